// The picture pipeline for picture_pipeline.py (tests/peer) and picture_bench.py (tests/bench):
//   picture_pipeline samples FOLDER SIZE OUT.safetensors   the test part as the model gets it, not
//   normalised picture_pipeline boxes FOLDER SIZE OUT.safetensors     augmented training pictures
//   with their boxes and flips picture_pipeline speed FOLDER SIZE THREADS             a line of
//   standard input starts an epoch; its seconds
#include <array>
#include <chrono>
#include <iostream>
#include <string>

#include "data/image/image_folder_files.h"
#include "data/image/image_transforms.h"
#include "data/loader/batch_loader.h"
#include "engine/base/error.h"
#include "engine/io/picture.h"
#include "io/safetensors/tensor_file.h"

namespace {

using namespace engine;

constexpr std::int64_t seed = 1;

DatasetConfig config_of(const std::string& folder, std::int64_t size) {
    DatasetConfig config;
    config.kind = "image-folder";
    config.path = {folder};
    config.options["image_size"] = size;
    return config;
}

SampleFields::Place place_of(void* data, std::size_t bytes) {
    return {.data = static_cast<std::byte*>(data), .bytes = bytes};
}

void write_samples(const std::string& folder, std::int64_t size, const std::string& out) {
    const DataPart part = open_dataset(config_of(folder, size), seed).test;
    const Tensor images = Tensor::empty({part.size(), size, size, 3}, DType::f32);
    const auto pixels = static_cast<std::size_t>(size * size * 3);
    for (std::int64_t i = 0; i < part.size(); ++i) {
        std::int64_t label = 0;
        std::array places{place_of(images.data_as<float>() + static_cast<std::size_t>(i) * pixels,
                                   pixels * sizeof(float)),
                          place_of(&label, sizeof label)};
        part.data->read(part.sample(i), SampleFields(places));
    }
    save_tensors(out, {{"images", images}});
}

/// Sample i is at position i of epoch 3.
void write_boxes(const std::string& folder, std::int64_t size, const std::string& out) {
    const DataPart part = open_dataset(config_of(folder, size), seed).train;
    const auto files = list_image_folder(folder, {}).train;
    const Tensor images = Tensor::empty({part.size(), size, size, 3}, DType::f32);
    const Tensor boxes = Tensor::empty({part.size(), 5}, DType::i64);
    const auto pixels = static_cast<std::size_t>(size * size * 3);
    for (std::int64_t i = 0; i < part.size(); ++i) {
        const SamplePlace at{seed, 3, static_cast<std::uint64_t>(i)};
        std::int64_t label = 0;
        std::array places{place_of(images.data_as<float>() + static_cast<std::size_t>(i) * pixels,
                                   pixels * sizeof(float)),
                          place_of(&label, sizeof label)};
        part.data->read_augmented(i, SampleFields(places), at);
        const Picture whole = load_picture(files[static_cast<std::size_t>(i)].path, Alpha::dropped);
        const PictureBox box = random_box(whole.width, whole.height, at);
        std::int64_t* row = boxes.data_as<std::int64_t>() + i * 5;
        row[0] = box.left;
        row[1] = box.top;
        row[2] = box.width;
        row[3] = box.height;
        row[4] = is_flipped(at) ? 1 : 0;
    }
    save_tensors(out, {{"images", images}, {"boxes", boxes}});
}

int measure(const std::string& folder, std::int64_t size, std::int64_t threads) {
    DatasetConfig config = config_of(folder, size);
    config.augment = true;
    const DataPart part = open_dataset(config, seed).train;
    BatchLoader loader(
        part, with_transforms(part.data->schema(), config, /*training=*/true),
        {.sampler = {.batch_size = 32, .seed = seed}, .epochs = 1, .threads = threads});
    std::cout << "ready " << part.size() << std::endl;
    for (std::string line; std::getline(std::cin, line);) {
        loader.seek(0, 0);
        const auto start = std::chrono::steady_clock::now();
        for (Batch batch; loader.next(batch);) {
        }
        const std::chrono::duration<double> taken = std::chrono::steady_clock::now() - start;
        std::cout << taken.count() << std::endl;
    }
    return 0;
}

}  // namespace

int main(int argc, char** argv) {
    const std::vector<std::string> args(argv + 1, argv + argc);
    try {
        if (args.size() != 4) throw Error(ErrorCode::settings, "see the head of this file");
        const std::int64_t size = std::stoll(args[2]);
        if (args[0] == "speed") return measure(args[1], size, std::stoll(args[3]));
        (args[0] == "boxes" ? write_boxes : write_samples)(args[1], size, args[3]);
        return 0;
    } catch (const std::exception& error) {
        std::cerr << "picture_pipeline: " << error.what() << '\n';
        return 1;
    }
}
