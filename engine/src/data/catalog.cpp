#include "engine/catalog.h"

namespace engine {

std::span<const DatasetInfo> datasets() {
    static const std::vector<DatasetInfo> list = {
        {.kind = "glyphs",
         .title = "Glyphs",
         .summary = "Drawn digits and letters with noise, made from the seed; nothing to download.",
         .needs = "",
         .sample_shape = {1, 28, 28},
         .classes = 20,
         .augments = false},
        {.kind = "spirals",
         .title = "Spirals",
         .summary =
             "Points of two interleaved spirals, made from the seed; for the smallest networks.",
         .needs = "",
         .sample_shape = {2},
         .classes = 2,
         .augments = false},
        {.kind = "mnist",
         .title = "MNIST",
         .summary = "70,000 handwritten digits, 28 x 28 grey.",
         .needs = "The folder with the four IDX files (train-images-idx3-ubyte and so on, plain or "
                  ".gz).",
         .sample_shape = {1, 28, 28},
         .classes = 10,
         .augments = false},
        {.kind = "fashion-mnist",
         .title = "Fashion-MNIST",
         .summary = "70,000 pictures of clothes, 28 x 28 grey.",
         .needs = "The folder with the four IDX files (train-images-idx3-ubyte and so on, plain or "
                  ".gz).",
         .sample_shape = {1, 28, 28},
         .classes = 10,
         .augments = true},
        {.kind = "cifar10",
         .title = "CIFAR-10",
         .summary = "60,000 photographs of ten things, 32 x 32 in colour.",
         .needs =
             "The folder of the binary version (data_batch_1.bin and so on, also .gz or .xz), or "
             "cifar-10-binary.tar.gz.",
         .sample_shape = {3, 32, 32},
         .classes = 10,
         .augments = true},
        {.kind = "cifar100",
         .title = "CIFAR-100",
         .summary = "60,000 photographs of a hundred things, 32 x 32 in colour.",
         .needs = "The folder of the binary version (train.bin and test.bin, also .gz, .xz or in "
                  "parts), "
                  "or cifar-100-binary.tar.gz.",
         .sample_shape = {3, 32, 32},
         .classes = 100,
         .augments = true},
    };
    return list;
}

}  // namespace engine
