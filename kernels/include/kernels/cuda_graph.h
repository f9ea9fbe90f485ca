#pragma once

#include <cstdint>
#include <memory>

#include "kernels/array.h"

namespace kernels::cuda {

/// Work of a stream, recorded once and given again as a whole: one call of the host for all of its
/// kernels. Pointers and numbers that were arguments then are the arguments of every launch.
class Graph {
public:
    virtual ~Graph() = default;
    /// Asynchronous on the stream.
    virtual void launch(Stream stream) = 0;
    /// Kernels, copies and fills in it.
    virtual std::int64_t nodes() const = 0;
};

/// From now on what the calling thread gives to the stream is recorded instead of run. Nothing may
/// wait for the device, copy from or to host memory that is not pinned, or record events.
void begin_capture(Stream stream);
/// Whether the calling thread's work for the stream is being recorded. What the host tells a kernel
/// anew in each step must then not be given to it: a replay would repeat it.
bool capturing(Stream stream);
/// Whether some thread's work for some stream of the device is being recorded. Memory is not to be
/// given back to the driver then: it would wait for the device, which ends a recording.
bool recording(int device) noexcept;
/// The work since begin_capture, with all that its launches need of the device. Throws DeviceError
/// if something in it cannot be recorded, OutOfMemory if the device has no memory for it; the
/// capture is over either way.
std::unique_ptr<Graph> end_capture(Stream stream);
/// Ends a capture whose work is of no use any more.
void abandon_capture(Stream stream) noexcept;

}  // namespace kernels::cuda
