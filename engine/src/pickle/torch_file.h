#pragma once

#include <filesystem>

#include "core/tensor_map.h"

namespace engine {

/// Whether the file is what torch.save writes, by its content: the zip form, or the form before
/// PyTorch 1.6.
bool is_torch_file(const std::filesystem::path& path);

/// The tensors of a state dict that torch.save wrote (.pt, .pth), row-major, by name. The dict may
/// be the file's value, or stand in it under `state_dict`, `model_state_dict` or `model`. Prefixes
/// of wrappers that all names share ("module." of DataParallel, "_orig_mod." of compile) are
/// dropped.
///
/// The pickle is read as data: nothing in it is called or imported, and a name that is none of
/// PyTorch's tensor names is refused. Throws Error(data).
TensorMap load_torch_tensors(const std::filesystem::path& path);

}  // namespace engine
