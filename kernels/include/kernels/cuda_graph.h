#pragma once

#include <cstdint>
#include <memory>

#include "kernels/array.h"

namespace kernels::cuda {

class Event;

/// Work of a stream that is captured once and launched again as a whole: one host call for all of
/// its kernels. Every launch uses the pointers and numbers of the capture.
class Graph {
public:
    virtual ~Graph() = default;
    /// Asynchronous on the stream.
    void launch(Stream stream) { launch(stream, nullptr); }
    /// Records `mark` (may be null) behind it. The graph keeps the mark of its last launch.
    virtual void launch(Stream stream, std::shared_ptr<Event> mark) = 0;
    /// Kernels, copies and fills in it.
    virtual std::int64_t nodes() const = 0;
};

/// From now on the calling thread's work for the stream is captured instead of run. Until the end
/// of the capture nothing may wait for the device, copy from or to host memory that is not pinned,
/// or record events.
void begin_capture(Stream stream);
/// Whether the calling thread's work for the stream is being captured. Values that the host passes
/// anew in each step must not be passed then, since a replay would repeat them.
bool capturing(Stream stream);
/// Whether any thread is capturing work for any stream of the device. Memory must not be released
/// to the driver then: the release would wait for the device, which ends a capture.
bool recording(int device) noexcept;
/// The work since begin_capture, with all device resources that its launches need. Throws
/// DeviceError if part of it cannot be captured, OutOfMemory if the device has no memory for it;
/// the capture is over either way.
std::unique_ptr<Graph> end_capture(Stream stream);
/// Ends a capture whose work is of no use any more.
void abandon_capture(Stream stream) noexcept;

}  // namespace kernels::cuda
