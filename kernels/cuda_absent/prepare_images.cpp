#include "kernels/prepare_images.h"

#include "cuda_absent/absent.h"

namespace kernels::cuda {

void prepare_images(Array, Array, ConstArray, const ImageStore&, const ImagePreparation&, Stream) {
    absent("prepare_images");
}

}  // namespace kernels::cuda
