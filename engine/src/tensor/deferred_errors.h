#pragma once

#include <optional>
#include <string>

#include "engine/base/error.h"
#include "kernels/deferred_error.h"
#include "tensor/device.h"

/// Deferred device errors: out-of-range values, such as a class or an index. On the CPU the
/// operation throws Error(value) at once. On a GPU nothing waits: the kernel records the value in a
/// word of device memory (kernels/deferred_error.h), and the next call that waits for that device
/// throws the error. Results computed from the value are NaN; nothing is read or written out of
/// bounds. The first error since the last check is reported; then the device is usable as before.
///
/// A training step copies the word with its figures and throws when they arrive
/// (train/run/trainer.h). An error on one GPU is thrown by a wait for that GPU, not for another one
/// that received its results. Any thread. If two threads compute on one GPU, an error may be thrown
/// by the other thread's wait, or only after the next check.
namespace engine {

/// The wording of a rule: `before`, the value, `after`.
struct ValueRule {
    std::string before, after;
    std::string hint = {};
    bool whole = true;  ///< an i64 is refused, not a floating number

    Error error(std::int64_t value) const;
    Error error(double value) const;
};

/// The argument for a kernel that is launched now on `device`, a GPU, and records violations of
/// this rule. Rules are identified by their wording and kept to the end of the process, since a
/// captured graph refers to them in each replay.
kernels::DeferredErrorPlace deferred_error_place(const ValueRule& rule, const Device& device);

/// The device's word, for kernels that move the recorded error; null on the CPU.
kernels::DeferredError* deferred_error_word_of(const Device& device);

/// The error that a word stands for, if any.
std::optional<Error> deferred_error_in(kernels::DeferredError note);

/// Discards recorded errors, because the work that caused them has failed. Does not wait.
void clear_deferred_errors(const Device& device) noexcept;

/// Frees pinned words that checks no longer use, on all devices.
void release_unused_looks();

/// Piggybacks the check for deferred errors on a synchronous device-to-host copy: the word is
/// copied first, if anything may have been recorded since the last check, and read when the copy is
/// done.
class DeferredErrorCheck {
public:
    /// Before the copy is given to the device that the calling thread computes on.
    explicit DeferredErrorCheck(const Device& device);
    ~DeferredErrorCheck();
    DeferredErrorCheck(const DeferredErrorCheck&) = delete;
    DeferredErrorCheck& operator=(const DeferredErrorCheck&) = delete;
    /// After it has been waited for. Throws Error(value), and clears the word.
    void finish();

private:
    const Device& device_;
    kernels::DeferredError* seen_ = nullptr;  // pinned; null: nothing to look at
};

}  // namespace engine
