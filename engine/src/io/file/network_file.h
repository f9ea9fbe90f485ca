#pragma once

#include "io/file/mapped_file.h"

namespace engine {

/// Whether the file lies on a file system that another machine may write too (NFS, SMB, FUSE and
/// their like). A mapping of such a file need not show what the other machine writes.
bool is_on_network(const File& file);

}  // namespace engine
