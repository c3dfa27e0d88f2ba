#include "nn/distributed/messages.h"

#ifdef HEED_MPI
#include <mpi.h>
#include <unistd.h>
#endif

#include <algorithm>
#include <chrono>
#include <climits>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <utility>

#include "tensor/error.h"

namespace heed::detail {
namespace {

constexpr int kGatherTag = 1;

// The number of processes that were started together, as far as the environment says.
bool is_one_of_several() {
  for (const char* name : {"OMPI_COMM_WORLD_SIZE", "PMI_SIZE"})
    if (const char* size = std::getenv(name)) return std::atoi(size) > 1;
  return std::getenv("PMIX_RANK") != nullptr;
}

}  // namespace

std::string Messages::name(int rank) const {
  const auto index = static_cast<size_t>(rank);
  return text("process ", rank, " of ", size_, index < hosts_.size() ? " (" + hosts_[index] + ")" : "");
}

void Messages::wait(std::vector<Transfer> transfers) {
  wait([&] { return advance(transfers); }, [&] { return transfers.front().peer; });
}

void Messages::wait(const std::function<bool()>& advance, const std::function<int()>& waits_for) {
  using Clock = std::chrono::steady_clock;
  const auto start = Clock::now();
  for (int64_t polls = 0; !advance(); ++polls) {
    const std::chrono::duration<double> waited = Clock::now() - start;
    check(waited.count() < deadline_, name(rank_), " has waited ", std::round(waited.count()), " s for ",
          name(waits_for()),
          ", which is alive; all processes must call the same functions in the same order, or .deadline must "
          "be longer");
    // A core that waits for a few milliseconds is free for the others; a longer wait costs next to nothing.
    if (waited.count() < 2e-3)
      std::this_thread::yield();
    else
      std::this_thread::sleep_for(std::chrono::microseconds(waited.count() < 0.1 ? 50 : 500));
  }
}

std::string Messages::gather(const void* data, size_t bytes) {
  std::string all(bytes * static_cast<size_t>(size_), '\0');
  std::vector<Transfer> transfers;
  for (int other = 0; other < size_; ++other) {
    char* place = all.data() + bytes * static_cast<size_t>(other);
    if (other == rank_) {
      std::memcpy(place, data, bytes);
      continue;
    }
    transfers.push_back(receive(other, kGatherTag, place, bytes));
    transfers.push_back(send(other, kGatherTag, data, bytes));
  }
  wait(std::move(transfers));
  return all;
}

#ifdef HEED_MPI

static_assert(sizeof(MPI_Request) <= sizeof(uintptr_t));

namespace {

constexpr double kBeat = 0.25;  // seconds between signs of life
constexpr char kAlive = 'a', kEnd = 'e';
constexpr int kLost = 70;  // exit code

MPI_Comm world = MPI_COMM_NULL, ring = MPI_COMM_NULL;  // of messages, and of signs of life

MPI_Request request_of(const Transfer& transfer) {
  MPI_Request request;
  std::memcpy(&request, &transfer.request, sizeof request);
  return request;
}

int checked_size(size_t bytes) {
  check(bytes <= INT_MAX, "Processes: a message of ", bytes,
        " bytes is too long for MPI; a parameter may have ", INT_MAX, " bytes for each process");
  return static_cast<int>(bytes);
}

// Throws if MPI reports an error.
void require(int code, const std::string& what) {
  if (code == MPI_SUCCESS) return;
  char reason[MPI_MAX_ERROR_STRING] = "";
  int length = 0;
  MPI_Error_string(code, reason, &length);
  fail("Processes: ", what, ": ", reason);
}

}  // namespace

Messages::Messages(double silence, double deadline)
    : exceptions_(std::uncaught_exceptions()), silence_(silence), deadline_(deadline) {
  if (!is_one_of_several()) return;
  int begun = 0, threads = 0;
  MPI_Initialized(&begun);
  check(!begun, "Processes: a program connects once; keep the first object until the end");
  require(MPI_Init_thread(nullptr, nullptr, MPI_THREAD_MULTIPLE, &threads), "MPI cannot start");
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  require(MPI_Comm_dup(MPI_COMM_WORLD, &world), "MPI cannot start");
  require(MPI_Comm_dup(MPI_COMM_WORLD, &ring), "MPI cannot start");
  MPI_Comm_rank(world, &rank_);
  MPI_Comm_size(world, &size_);
  check(threads == MPI_THREAD_MULTIPLE,
        "Processes: this MPI does not support threads; heed needs "
        "MPI_THREAD_MULTIPLE");
  char host[64] = "";
  gethostname(host, sizeof host - 1);
  const std::string all = gather(host, sizeof host);
  for (size_t i = 0; i < all.size(); i += sizeof host) hosts_.emplace_back(&all[i]);
  if (size_ > 1) watcher_ = std::thread([this] { watch(); });
}

void Messages::end() {
  if (world == MPI_COMM_NULL) return;
  gather("", 1);
  phase_ = Phase::ending;
  if (watcher_.joinable()) watcher_.join();
  world = MPI_COMM_NULL;
  rank_ = 0;
  size_ = 1;
  MPI_Finalize();
}

Messages::~Messages() {
  try {
    if (std::uncaught_exceptions() == exceptions_) end();
  } catch (const Error& error) {
    std::fprintf(stderr, "heed: %s\n", error.what());
  }
  if (std::exchange(world, MPI_COMM_NULL) == MPI_COMM_NULL) return;
  phase_ = Phase::failed;
  if (watcher_.joinable()) watcher_.join();
  // Without MPI_Finalize mpirun ends the others when this process ends.
  std::fprintf(stderr, "heed: %s ends because of an error, and all others with it\n", name(rank_).c_str());
}

void Messages::watch() {
  const int next = (rank_ + 1) % size_, before = (rank_ + size_ - 1) % size_;
  uint64_t completed = 0;
  char sign = kAlive, heard = kAlive;
  for (double silent = 0; sign != kEnd || heard != kEnd; silent += kBeat) {
    const Phase phase = phase_;
    if (phase == Phase::failed) return;
    if (sign != kEnd) {
      sign = phase == Phase::ending ? kEnd : kAlive;
      MPI_Request request;
      MPI_Isend(sign == kEnd ? &kEnd : &kAlive, 1, MPI_CHAR, next, 0, ring, &request);
      MPI_Request_free(&request);
    }
    for (int found = 1; found && heard != kEnd;) {
      MPI_Iprobe(before, 0, ring, &found, MPI_STATUS_IGNORE);
      if (!found) break;
      MPI_Recv(&heard, 1, MPI_CHAR, before, 0, ring, MPI_STATUS_IGNORE);
      silent = 0;
    }
    if (const uint64_t now = completed_; std::exchange(completed, now) != now) silent = 0;
    if (silent >= silence_) {
      std::fprintf(stderr,
                   "heed: %s has been silent for %g s: it is stopped, or its machine or the network is down. "
                   "All processes end; checkpoints are whole\n",
                   name(before).c_str(), silent);
      alarm(2);  // ends this process even if MPI cannot
      MPI_Abort(MPI_COMM_WORLD, kLost);
    }
    std::this_thread::sleep_for(std::chrono::duration<double>(kBeat));
  }
}

Transfer Messages::send(int to, int tag, const void* data, size_t bytes) {
  Transfer transfer{to, bytes, true, 0};
  MPI_Request request;
  require(MPI_Isend(data, checked_size(bytes), MPI_BYTE, to, tag, world, &request), name(to));
  std::memcpy(&transfer.request, &request, sizeof request);
  return transfer;
}

Transfer Messages::receive(int from, int tag, void* data, size_t bytes) {
  Transfer transfer{from, bytes, false, 0};
  MPI_Request request;
  require(MPI_Irecv(data, checked_size(bytes), MPI_BYTE, from, tag, world, &request), name(from));
  std::memcpy(&transfer.request, &request, sizeof request);
  return transfer;
}

bool Messages::advance(std::vector<Transfer>& transfers) {
  for (Transfer& transfer : transfers) {
    MPI_Request request = request_of(transfer);
    MPI_Status status;
    int complete = 0, bytes = 0;
    require(MPI_Test(&request, &complete, &status), "a message with " + name(transfer.peer));
    std::memcpy(&transfer.request, &request, sizeof request);
    if (!complete) continue;
    transfer.complete = true;
    ++completed_;
    if (transfer.sends) continue;
    MPI_Get_count(&status, MPI_BYTE, &bytes);
    check(static_cast<size_t>(bytes) == transfer.bytes, "Processes: ", name(transfer.peer), " sent ", bytes,
          " bytes instead of ", transfer.bytes,
          "; all processes must call the same functions with the same parameters");
  }
  std::erase_if(transfers, [](const Transfer& transfer) { return transfer.complete; });
  return transfers.empty();
}

#else

Messages::Messages(double silence, double deadline)
    : exceptions_(std::uncaught_exceptions()), silence_(silence), deadline_(deadline) {
  check(!is_one_of_several(),
        "Processes: several processes were started, and this heed was built without MPI; install "
        "libopenmpi-dev and build it again, or start one process");
}
Messages::~Messages() = default;
void Messages::end() {}
Transfer Messages::send(int to, int, const void*, size_t) { fail("Processes: there is no process ", to); }
Transfer Messages::receive(int from, int, void*, size_t) { fail("Processes: there is no process ", from); }
bool Messages::advance(std::vector<Transfer>& transfers) { return transfers.empty(); }

#endif

}  // namespace heed::detail
