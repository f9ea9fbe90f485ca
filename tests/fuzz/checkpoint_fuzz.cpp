#include <filesystem>
#include <nlohmann/json.hpp>

#include "data/dataset_descriptor.h"
#include "engine/base/error.h"
#include "folder_input.h"
#include "io/file/sha256.h"
#include "runs/checkpoint.h"
#include "runs/run_folder.h"
#include "scratch_file.h"
#include "tensor/memory/memory.h"
#include "train/run/saved_run.h"
#include "train/run/trainer.h"

namespace {

namespace fs = std::filesystem;

const std::vector<std::string> files = {"state.json", "weights.safetensors",
                                        "optimizer.safetensors", "carried.safetensors"};

/// Corrects the checksums, so that the code after their check is reached too.
void seal(const fs::path& checkpoint) {
    using nlohmann::json;
    json state = json::parse(engine::read_text(checkpoint / files[0]), nullptr, false);
    if (!state.is_object()) return;
    state.erase("checksum");
    for (std::size_t i = 1; i < files.size(); ++i) {
        if (!fs::exists(checkpoint / files[i])) continue;
        state["files"] = state.value("files", json()).is_object() ? state["files"] : json::object();
        state["files"][files[i]] = {{"bytes", fs::file_size(checkpoint / files[i])},
                                    {"sha256", engine::sha256_of(checkpoint / files[i])}};
    }
    std::ofstream(checkpoint / files[0])
        << state.dump(-1, ' ', false, json::error_handler_t::replace);
}

/// The settings of the run that seeds.py trains.
engine::RunConfig seed_settings() {
    engine::RunConfig config;
    config.dataset.kind = "spirals";
    config.model.kind = "mlp";
    config.model.options["hidden"] = std::vector<std::int64_t>{4};
    config.optimizer.kind = "adam";
    return config;
}

engine::Trainer& trainer() {
    static engine::Trainer made(seed_settings(), engine::Device{},
                                engine::dataset_descriptor("spirals").schema({}), 100);
    return made;
}

}  // namespace

/// Large tensors do not come from malloc, so the sanitizer does not bound them.
extern "C" int LLVMFuzzerInitialize(int*, char***) {
    engine::set_memory_limit(std::size_t{256} << 20);
    return 0;
}

// Uses the bytes as the files of a checkpoint, with correct checksums half of the time. Expects an
// Error, or a trainer that loads it.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    static const fuzz::ScratchFile scratch("checkpoint");
    if (size == 0) return 0;
    const fs::path run = scratch.path().string() + ".folder";
    const fs::path checkpoint = run / "checkpoint-3";
    fuzz::FolderInput(files, data + 1, size - 1).write_to(checkpoint);
    try {
        if (data[0] % 2 == 0) seal(checkpoint);
        engine::list_checkpoints(run);
        const engine::SavedRun saved = engine::read_saved_run(checkpoint);
        engine::restored_parts(saved, seed_settings());
        trainer().load_state(saved.training, engine::change_of(saved.config, seed_settings()));
    } catch (const engine::Error&) {
    }
    fs::remove_all(run);
    return 0;
}
