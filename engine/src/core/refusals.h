#pragma once

#include <optional>
#include <string>

#include "core/device.h"
#include "engine/error.h"
#include "kernels/refusal.h"

/// Values that an operation refuses: an out-of-range class or index. On the CPU the operation
/// throws Error(value) at once. On a GPU nothing waits to know: a kernel notes the value in a word
/// of the device (kernels/refusal.h), and whatever waits for that device next throws the error
/// there; what was computed meanwhile is NaN where the value was read, and nothing is read or
/// written out of bounds. The first refusal since the last look is the one that is told; then the
/// device goes on as before.
///
/// A step of training takes the note with its figures and tells it when they arrive
/// (train/trainer.h). A value that was refused on one GPU is told by what waits for that one, not
/// for another that its results went to. Any thread; where two compute on one GPU at a time, a note
/// may be told by the other's wait, or only after the next check.
namespace engine {

/// What is said of a value: `before`, the value, `after`.
struct Refusal {
    std::string before, after;
    std::string hint = {};
    bool whole = true;  ///< an i64 is refused, not a floating number

    Error error(std::int64_t value) const;
    Error error(double value) const;
};

/// For a kernel on `device`, a GPU, that is launched now and notes what breaks this rule. Rules are
/// known by their words, to the end of the process: a recorded graph names them in each replay.
kernels::RefusalPlace refusal_place(const Refusal& rule, const Device& device);

/// The device's word, for kernels that move the note; null on the CPU.
kernels::RefusalNote* refusal_note(const Device& device);

/// What a note says.
std::optional<Error> refusal_in(kernels::RefusalNote note);

/// What was noted so far is of no interest any more: the work that did it has failed. Waits for
/// nothing.
void forget_refusals(const Device& device) noexcept;

/// Gives pinned words that looks have left back to the system, all devices'.
void release_unused_looks();

/// Piggybacks the check for refused values on a synchronous device-to-host copy: the word is copied
/// before it, if anything may have been noted since the last look, and read when the copy is done.
class RefusalLook {
public:
    /// Before the copy is given to the device that the calling thread computes on.
    explicit RefusalLook(const Device& device);
    ~RefusalLook();
    RefusalLook(const RefusalLook&) = delete;
    RefusalLook& operator=(const RefusalLook&) = delete;
    /// After it has been waited for. Throws Error(value), and clears the word.
    void finish();

private:
    const Device& device_;
    kernels::RefusalNote* seen_ = nullptr;  // pinned; null: nothing to look at
};

}  // namespace engine
