#pragma once

#include "kernels/profiler_calls.h"

namespace engine {

/// A named range on the time line of a profiler, while it lives. Costs one branch without
/// one. The name is copied.
class ProfilerRange {
public:
    explicit ProfilerRange(const char* name) : calls_(kernels::profiler_calls()) {
        if (calls_ != nullptr) calls_->push(name);
    }
    ~ProfilerRange() {
        if (calls_ != nullptr) calls_->pop();
    }
    ProfilerRange(const ProfilerRange&) = delete;
    ProfilerRange& operator=(const ProfilerRange&) = delete;

private:
    const kernels::ProfilerCalls* calls_;
};

}  // namespace engine
