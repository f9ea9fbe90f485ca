// A capsule as a PyTorch script.
#include <algorithm>
#include <nlohmann/json.hpp>
#include <sstream>
#include <system_error>

#include "engine/base/error.h"
#include "engine/instruments/capsule.h"
#include "engine/io/named_file.h"
#include "instruments/capsule/capsule_file.h"
#include "settings/config_reader.h"
#include "tensor/device.h"

namespace engine {

/// Computes the step of a capsule in PyTorch with a check after every operation: the files of
/// instruments/pytorch/ in the order of their names in CMakeLists.txt. Needs torch, for ResNets,
/// ResNeXts and MobileNetV2 torchvision too. Python; before it come lines that import json and set
/// CAPSULE (path), KIND and OPTIONS (of the model), FORCE (precision.force), WEIGHTS, AUTOCAST and
/// BATCH_NORM (words of the settings), MASTERS, DEVICE and SCALE.
/// capsule/pytorch_script.cpp.in defines it.
std::string pytorch_script();

namespace {

namespace fs = std::filesystem;

constexpr std::string_view twins[] = {"mlp",        "lenet",       "resnet18",  "resnet34",
                                      "resnet50",   "resnet101",   "resnet152", "resnext50",
                                      "resnext101", "mobilenetv2", "rnn-lm",    "transformer-lm",
                                      "bert",       "autoencoder", "dlrm"};

bool has_twin(const std::string& kind) { return std::ranges::find(twins, kind) != std::end(twins); }

/// As a Python string literal, whose escapes are those of JSON.
std::string quoted(const std::string& text) {
    return nlohmann::json(text).dump(-1, ' ', true, nlohmann::json::error_handler_t::replace);
}

fs::path seen_from(const fs::path& file, const fs::path& script) {
    std::error_code error;
    const fs::path relative =
        fs::relative(fs::absolute(file), fs::absolute(script).parent_path(), error);
    return error || relative.empty() ? fs::absolute(file) : relative;
}

}  // namespace

void write_pytorch_script(const fs::path& capsule_file, const fs::path& script) {
    const CapsuleContent content = read_capsule_file(capsule_file);
    const RunConfig& config = content.capsule.config;
    if (!has_twin(config.model.kind)) {
        throw Error(ErrorCode::settings,
                    msg("There is no PyTorch script for the model {}.", config.model.kind));
    }
    if (config.gradient_penalty != 0)
        throw Error(ErrorCode::settings,
                    msg("There is no PyTorch script for a step with a gradient penalty."));
    if (config.teach != TeachConfig{})
        throw Error(ErrorCode::settings,
                    msg("There is no PyTorch script for a run that is broken on purpose (teach)."));
    const ResolvedPrecision precision = resolve(config.precision);
    const nlohmann::json settings = to_ordered_json(completed(config));
    const std::string options =
        settings["model"]["options"].dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
    std::ostringstream out;
    out.precision(17);
    out << "# Step " << content.capsule.step()
        << " of a run of Halftone, computed again in PyTorch.\n"
        << "import json\n\n"
        << "CAPSULE = " << quoted(seen_from(capsule_file, script).string()) << '\n'
        << "KIND = " << quoted(config.model.kind) << '\n'
        << "OPTIONS = json.loads(" << quoted(options) << ")\n"
        << "FORCE = json.loads("
        << quoted(settings["precision"].value("force", nlohmann::json::object()).dump()) << ")\n"
        << "WEIGHTS = " << quoted(word_of(precision.weights)) << '\n'
        << "AUTOCAST = " << quoted(word_of(precision.autocast)) << '\n'
        << "BATCH_NORM = " << quoted(word_of(precision.batch_norm)) << '\n'
        << "MASTERS = " << (precision.master_weights ? "True" : "False") << '\n'
        << "DEVICE = "
        << (resolve_device(config.device).kind == Device::Kind::cuda ? "\"cuda\"" : "\"cpu\"")
        << '\n'
        << "SCALE = " << content.facts.loss_scale << '\n'
        << pytorch_script();
    write_named_file(script, out.str());
}

}  // namespace engine
