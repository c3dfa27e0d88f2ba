// What Debian's C++ runtime for wasm32-wasi lacks. Each program for WebAssembly contains it.
//
// A throw ends the instance: nothing can catch. The message goes to JavaScript, which makes a new instance.

#include <new>
#include <typeinfo>

#include "tensor/error.h"

extern "C" {

// JavaScript throws an error with this message, so it does not return.
[[clang::import_module("heed"), clang::import_name("fail"), noreturn]] void throw_in_javascript(
    const char* message);

// What a throw expression calls.
void* __cxa_allocate_exception(size_t bytes) noexcept { return ::operator new(bytes); }
void __cxa_free_exception(void* exception) noexcept { ::operator delete(exception); }
[[noreturn]] void __cxa_throw(void* exception, std::type_info* type, void (*)(void*)) {
  const bool has_message = *type == typeid(heed::Error);
  throw_in_javascript(has_message ? static_cast<heed::Error*>(exception)->what() : type->name());
}

// The one thread does not end, so nothing is destroyed at its end.
int __cxa_thread_atexit(void (*)(void*), void*, void*) { return 0; }

// There is no environment.
char* getenv(const char*) { return nullptr; }

}  // extern "C"
