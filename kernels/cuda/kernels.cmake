# The CUDA kernels: compiled by nvcc for the device, and by the host's compiler for the simulated device of the tests.
set(cuda_kernels
)
# Host code that runs on either: it calls no CUDA itself.
set(cuda_host
)
# Families of kernels/cuda_absent that are not written here: there the symbols that throw stand in for them.
set(cuda_unwritten
  batch_norm
  conv2d
  dropout
  elementwise
  gemm
  multi_tensor
  pool
  prepare_images
  reduce
  scaler
  softmax
  step_figures
)
