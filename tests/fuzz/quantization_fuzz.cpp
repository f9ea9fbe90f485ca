#include <filesystem>
#include <fstream>
#include <iterator>

#include "amp/recipe.h"
#include "engine/base/error.h"
#include "engine/record/quantization_record.h"
#include "engine/settings/run_config.h"
#include "folder_input.h"
#include "io/safetensors/tensor_file.h"
#include "models/recipes.h"
#include "record/quantization_file.h"
#include "scratch_file.h"

namespace {

namespace fs = std::filesystem;

void read_casts(const fs::path& run) {
    auto reader = engine::QuantizationReader::open(run);
    reader.refresh();
    const std::vector<std::int64_t> steps = reader.steps();
    for (std::size_t i = 0; i < std::min<std::size_t>(steps.size(), 8); ++i) {
        engine::to_table(reader.read(steps[i]), reader.slots());
        reader.read_scale_codes(steps[i]);
    }
}

/// Goes on with the record, as a resumed run does.
void write_casts(const fs::path& run) {
    engine::QuantizationWriter writer(run);
    engine::QuantizationRow row;
    row.step = 7;
    row.slot = writer.place_of({"fc1", "x", "columns", 1, 1, "e4m3", "emulated", ""});
    writer.append({&row, 1}, {});
}

void load_scales(const fs::path& file) {
    engine::QuantizedLayers layers(engine::make_recipe(engine::RecipeKind::fp8_delayed), {});
    layers.load_state(engine::load_tensors(file), 1);
    layers.find("fc1");
    layers.find("net.0");
    layers.saved_state();
}

void read_settings(const fs::path& file) {
    std::ifstream in(file, std::ios::binary);
    const std::string text{std::istreambuf_iterator<char>(in), {}};
    const engine::ParsedConfig parsed = engine::parse_run_config(text);
    if (!parsed.errors.empty()) return;
    engine::validate(parsed.config);
    engine::ignored_of_recipes(parsed.config);
    engine::make_recipe(engine::RecipeKind::nvfp4, engine::recipe_settings(parsed.config));
}

template <typename F>
void refuse_or_read(F f) {
    try {
        f();
    } catch (const engine::Error&) {
    }
}

}  // namespace

// Uses the bytes as the record of a run's casts, the state of its delayed scales and its settings.
// Expects an Error, or that the valid part is read.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    static const fuzz::ScratchFile scratch("casts");
    const fs::path run = scratch.path().string() + ".folder";
    const fs::path folder = run / "quantization";
    fs::remove_all(run);
    fuzz::FolderInput(
        {"tensors.json", "tensors.rec", "scales.rec", "quantization.safetensors", "config.json"},
        data, size)
        .write_to(folder);
    refuse_or_read([&] { read_casts(run); });
    refuse_or_read([&] { load_scales(folder / "quantization.safetensors"); });
    refuse_or_read([&] { read_settings(folder / "config.json"); });
    refuse_or_read([&] { write_casts(run); });
    refuse_or_read([&] { read_casts(run); });
    fs::remove_all(run);
    return 0;
}
