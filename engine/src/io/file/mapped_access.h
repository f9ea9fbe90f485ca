#pragma once

#include "io/file/mapped_file.h"

namespace engine {

/// While it lives, its thread may touch pages of the mapping that the file no longer holds because
/// another program truncated it. Without it that is a SIGBUS, which ends the process. With it the
/// lost pages read as zeros, and Mapping::is_lost() becomes true: check it after the access, and
/// discard what was copied.
///
/// Several may be nested; they are destroyed in reverse order. Costs a few nanoseconds. The first
/// one installs a handler for SIGBUS, which passes any other SIGBUS on to the previous handler.
class MappedAccess {
public:
    explicit MappedAccess(const Mapping& mapping) noexcept;
    ~MappedAccess();
    MappedAccess(const MappedAccess&) = delete;
    MappedAccess& operator=(const MappedAccess&) = delete;

private:
    friend struct BusErrorHandler;
    const Mapping& mapping_;
    const MappedAccess* outer_;
};

}  // namespace engine
