#pragma once

/// The simulated device's nvJPEG.
namespace kernels::simt {

void set_nvjpeg_installed(bool installed);
/// Pictures that it has decoded since the last call.
int take_decoded_pictures();
/// Decoders of threads and devices that are there.
int nvjpeg_states();

}  // namespace kernels::simt
