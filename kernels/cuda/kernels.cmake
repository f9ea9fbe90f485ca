# The CUDA kernels: compiled by nvcc for the device, and by the host's compiler for the simulated device of the tests.
set(cuda_kernels
  abs_max.cu
  arg_max.cu
  batch_norm_backward.cu
  batch_norm_forward.cu
  cast.cu
  conv2d_direct.cu
  copy_strided.cu
  dropout.cu
  elementwise_binary.cu
  elementwise_math.cu
  elementwise_scale.cu
  elementwise_select.cu
  elementwise_unary.cu
  gemm_finish.cu
  multi_tensor_judge.cu
  multi_tensor_update.cu
  prepare_images.cu
  reduce.cu
  reduce_columns.cu
  reduce_rows.cu
  scaler.cu
  step_figures.cu
)
# Host code that runs on either: it calls no CUDA itself.
set(cuda_host
  conv2d.cpp
  conv2d_graph.cpp
  gemm.cpp
  matmul_plans.cpp
  workspace.cpp
)
# Families of kernels/cuda_absent that are not written here: there the symbols that throw stand in for them.
set(cuda_unwritten
  pool
  softmax
)
