#include "nn/distributed/messages.h"

#ifdef HEED_MPI
#include <mpi.h>
#include <unistd.h>
#endif

#include <cstdio>
#include <cstdlib>
#include <utility>

namespace heed::detail {

// As far as the environment says. A program that was started alone does without MPI.
static bool is_one_of_several() {
  for (const char* name : {"OMPI_COMM_WORLD_SIZE", "PMI_SIZE"})
    if (const char* size = std::getenv(name)) return std::atoi(size) > 1;
  return std::getenv("PMIX_RANK") != nullptr;
}

Messages::Messages(double silence, double deadline)
    : exceptions_(std::uncaught_exceptions()), silence_(silence), deadline_(deadline) {
  if (is_one_of_several()) connect();
}

std::string Messages::name(int rank) const {
  return text("process ", rank, " of ", size_, hosts_.empty() ? "" : " (" + hosts_[size_t(rank)] + ")");
}

void Messages::wait(const std::function<bool()>& advance) const {
  using Clock = std::chrono::steady_clock;
  for (const auto start = Clock::now(); !advance();) {
    const double waited = std::chrono::duration<double>(Clock::now() - start).count();
    check(waited < deadline_, "Processes: ", name(rank_), " has waited ", deadline_,
          " s for others, which are alive; all processes must call the same functions in the same order, or "
          ".deadline must be longer");
    std::this_thread::yield();  // others may use the core, and a long wait costs next to nothing
    std::this_thread::sleep_for(std::chrono::microseconds(waited < 2e-3 ? 0 : waited < 0.1 ? 50 : 500));
  }
}

#ifdef HEED_MPI
// The checker named below knows neither MPI_Test nor MPI_Request_free, which complete requests here.
// NOLINTBEGIN(clang-analyzer-optin.mpi.MPI-Checker)

constexpr double kBeat = 0.25;  // seconds between signs of life, which have tag 0
constexpr char kAlive = 'a', kEnd = 'e';
static MPI_Comm world = MPI_COMM_NULL;  // null before and after; MPI reports errors, and ends all processes

void Messages::connect() {
  int begun = 0, threads = 0;
  MPI_Initialized(&begun);
  check(!begun, "Processes: a program connects once; keep the first object until the end");
  MPI_Init_thread(nullptr, nullptr, MPI_THREAD_MULTIPLE, &threads);
  MPI_Comm_dup(MPI_COMM_WORLD, &world);
  MPI_Comm_rank(world, &rank_);
  MPI_Comm_size(world, &size_);
  check(threads == MPI_THREAD_MULTIPLE, "Processes: heed needs an MPI with MPI_THREAD_MULTIPLE");
  std::array<char, 64> host = {};
  gethostname(host.data(), host.size() - 1);
  for (const auto& other : gather(host)) hosts_.emplace_back(other.data());
  watcher_ = std::thread([this] { watch(); });
}

void Messages::end() {
  if (world == MPI_COMM_NULL) return;
  gather(0);
  phase_ = Phase::ending;
  watcher_.join();
  world = MPI_COMM_NULL;
  rank_ = 0, size_ = 1;
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
  watcher_.join();
  // Without MPI_Finalize mpirun ends the others when this process ends.
  std::fprintf(stderr, "heed: %s ends because of an error, and all others with it\n", name(rank_).c_str());
}

void Messages::watch() {
  const int next = (rank_ + 1) % size_, before = (rank_ + size_ - 1) % size_;
  char sign = kAlive, heard = kAlive;
  for (; sign != kEnd || heard != kEnd; silent_ += kBeat) {
    if (phase_ == Phase::failed) return;
    if (sign != kEnd) {
      sign = phase_ == Phase::ending ? kEnd : kAlive;
      MPI_Request request;
      MPI_Isend(sign == kEnd ? &kEnd : &kAlive, 1, MPI_CHAR, next, 0, world, &request);
      MPI_Request_free(&request);
    }
    for (int found = heard != kEnd; found; silent_ = 0) {
      MPI_Iprobe(before, 0, world, &found, MPI_STATUS_IGNORE);
      if (!found) break;
      MPI_Recv(&heard, 1, MPI_CHAR, before, 0, world, MPI_STATUS_IGNORE);
    }
    if (const double silent = silent_; silent >= silence_) {
      std::fprintf(stderr,
                   "heed: %s has been silent for %g s: it, its machine or the network is stopped; "
                   "all processes end, and checkpoints are whole\n",
                   name(before).c_str(), silent);
      alarm(2);  // ends this process even if MPI cannot
      MPI_Abort(MPI_COMM_WORLD, 70);
    }
    std::this_thread::sleep_for(std::chrono::duration<double>(kBeat));
  }
}

Transfers Messages::start(int tag, const MessagesBetween& messages) {
  Transfers transfers;
  for (int peer = 0; peer < size_; ++peer)
    for (const bool sends : {false, true})
      if (peer != rank_)
        for (const Bytes bytes : sends ? messages(rank_, peer) : messages(peer, rank_)) {
          check(std::in_range<int>(bytes.size()), "Processes: a message of ", bytes.size(),
                " bytes is too long for MPI");
          transfers.push_back({sends, peer, bytes, nullptr});
        }
  // Nothing below throws: the caller gets all transfers that have begun.
  for (auto& [sends, peer, bytes, pending] : transfers) {
    MPI_Request request;
    sends ? MPI_Isend(bytes.data(), int(bytes.size()), MPI_BYTE, peer, tag, world, &request)
          : MPI_Irecv(bytes.data(), int(bytes.size()), MPI_BYTE, peer, tag, world, &request);
    pending = request;
  }
  return transfers;
}

bool Messages::advance(Transfers& transfers) {
  std::erase_if(transfers, [&](const Transfer& transfer) {
    MPI_Request request = static_cast<MPI_Request>(transfer.request);
    MPI_Status status;
    int complete = 0, bytes = 0;
    MPI_Test(&request, &complete, &status);
    if (!complete) return false;
    silent_ = 0;
    MPI_Get_count(&status, MPI_BYTE, &bytes);
    check(transfer.sends || static_cast<size_t>(bytes) == transfer.bytes.size(),
          "Processes: ", name(transfer.peer), " sent ", bytes, " bytes, not ", transfer.bytes.size(),
          "; all must call the same functions with the same parameters");
    return true;
  });
  return transfers.empty();
}

// NOLINTEND(clang-analyzer-optin.mpi.MPI-Checker)
#else

void Messages::connect() {
  fail(
      "Processes: mpirun started several, and heed was built without MPI; install libopenmpi-dev and "
      "build it");
}
Messages::~Messages() = default;
void Messages::end() {}
Transfers Messages::start(int, const MessagesBetween&) { return {}; }
bool Messages::advance(Transfers& transfers) { return transfers.empty(); }

#endif

}  // namespace heed::detail
