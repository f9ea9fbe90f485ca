# The CUDA kernels: compiled by nvcc for the device, and by the host's compiler for the simulated device of the tests.
set(cuda_kernels
  abs_max.cu
  add_layer_norm.cu
  arg_max.cu
  balanced_sample.cu
  batch_norm_backward.cu
  batch_norm_forward.cu
  binary_cross_entropy.cu
  carry_state.cu
  cast.cu
  coalesce_rows.cu
  coalesce_tables.cu
  conv2d_direct.cu
  copy_small.cu
  copy_strided.cu
  cross_entropy.cu
  dropout.cu
  elementwise_binary.cu
  elementwise_math.cu
  elementwise_scale.cu
  elementwise_select.cu
  elementwise_unary.cu
  embedding_bag.cu
  embedding_bag_group.cu
  exponent_histogram.cu
  gemm_finish.cu
  index_reduce.cu
  index_select.cu
  layer_norm.cu
  mask_targets.cu
  match_boxes.cu
  move_rows.cu
  multi_tensor_axpby.cu
  multi_tensor_gradient_check.cu
  multi_tensor_norms.cu
  multi_tensor_trust.cu
  multi_tensor_update.cu
  pool.cu
  prepare_images.cu
  recurrent.cu
  reduce.cu
  reduce_columns.cu
  reduce_rows.cu
  roi_align.cu
  deferred_error.cu
  scaler.cu
  scan.cu
  scores.cu
  select_boxes.cu
  softmax.cu
  sort.cu
  step_ends.cu
  step_figures.cu
  welford.cu
)
# With HALFTONE_UNITY short ones are compiled in batches, for either device: nvcc parses the headers of a file three times,
# and they are most of its time. What takes long by itself stays alone. The files of a batch do not define the same name
# twice, in anonymous namespaces either; no two of those that define `start` are together, for instance.
set(cuda_batches
  "scaler exponent_histogram multi_tensor_gradient_check"
  "multi_tensor_axpby multi_tensor_norms multi_tensor_trust"
  "abs_max reduce"
  "carry_state prepare_images step_ends step_figures scores dropout"
  "index_select embedding_bag coalesce_rows deferred_error"
  "embedding_bag_group move_rows binary_cross_entropy"
  "gemm_finish conv2d_direct pool"
  "recurrent cross_entropy"
  "copy_small copy_strided elementwise_scale elementwise_select"
  "arg_max index_reduce"
  "batch_norm_forward welford")
if(HALFTONE_UNITY)
  set(batch_number 0)
  foreach(batch IN LISTS cuda_batches)
    string(REPLACE " " ";" batch "${batch}")
    set(batch_content "")
    foreach(kernel IN LISTS batch)
      if(NOT "${kernel}.cu" IN_LIST cuda_kernels)
        message(FATAL_ERROR "kernels/cuda/kernels.cmake: ${kernel}.cu of a batch is not in the list of kernels")
      endif()
      list(REMOVE_ITEM cuda_kernels ${kernel}.cu)
      string(APPEND batch_content "#include \"${CMAKE_CURRENT_LIST_DIR}/${kernel}.cu\"\n")
    endforeach()
    set(batch_file ${PROJECT_BINARY_DIR}/kernels/cuda/batches/batch_${batch_number}.cu)
    file(CONFIGURE OUTPUT ${batch_file} CONTENT "${batch_content}" @ONLY)
    list(APPEND batch_files ${batch_file})
    math(EXPR batch_number "${batch_number} + 1")
  endforeach()
endif()
list(TRANSFORM cuda_kernels PREPEND ${CMAKE_CURRENT_LIST_DIR}/)
list(APPEND cuda_kernels ${batch_files})
unset(batch_files)
# Host code that runs on either: it calls no CUDA itself.
set(cuda_host
  absence.cpp
  attention.cpp
  attention_graph.cpp
  autotuner.cpp
  conv2d.cpp
  conv2d_choice.cpp
  conv2d_graph.cpp
  conv2d_operands.cpp
  cudnn_rnn_plan.cpp
  gemm.cpp
  jpeg_decoder.cpp
  matmul_plans.cpp
  plan_failure.cpp
  rank_group.cpp
  recording.cpp
  recurrent_choice.cpp
  recurrent_network.cpp
  workspace.cpp
)
