// The live objects behind opaque HIP handles. A handle is looked up before it is followed, so that a stale or made-up
// one is an error code and never a crash; objects in use outlive their handle.
#pragma once

#include <memory>
#include <mutex>
#include <unordered_map>

namespace mlaforge::simulator {

template <typename T>
class HandleTable {
 public:
  T* add(std::shared_ptr<T> object) {
    const std::scoped_lock lock(mutex_);
    T* handle = object.get();
    objects_[handle] = std::move(object);
    return handle;
  }

  std::shared_ptr<T> find(const void* handle) const {
    const std::scoped_lock lock(mutex_);
    const auto at = objects_.find(handle);
    return at == objects_.end() ? nullptr : at->second;
  }

  std::shared_ptr<T> remove(const void* handle) {
    const std::scoped_lock lock(mutex_);
    const auto at = objects_.find(handle);
    if (at == objects_.end()) return nullptr;
    std::shared_ptr<T> object = std::move(at->second);
    objects_.erase(at);
    return object;
  }

  template <typename Visit>
  void for_each(Visit visit) {
    for_each_shared([&](const std::shared_ptr<T>& object) { visit(*object); });
  }

  template <typename Visit>
  void for_each_shared(Visit visit) {
    const std::scoped_lock lock(mutex_);
    for (auto& [handle, object] : objects_) visit(object);
  }

 private:
  mutable std::mutex mutex_;
  std::unordered_map<const void*, std::shared_ptr<T>> objects_;
};

}  // namespace mlaforge::simulator
