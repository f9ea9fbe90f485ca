#include <algorithm>
#include <filesystem>
#include <functional>
#include <map>
#include <mutex>
#include <numeric>
#include <sstream>

#include "base/platform/regular_file.h"
#include "base/text_utf8.h"
#include "engine/base/error.h"
#include "io/file/sha256.h"
#include "models/layer_run.h"
#include "models/model_descriptor.h"
#include "models/network_model.h"
#include "network/expand.h"
#include "network/grammar.h"
#include "network/lines.h"
#include "network/text_options.h"

namespace engine {
namespace {

namespace fs = std::filesystem;

ModelOutput output_named(const std::string& gives) {
    static const std::map<std::string, ModelOutput> outputs = {
        {"scores", ModelOutput::scores},
        {"image", ModelOutput::image},
        {"token scores", ModelOutput::token_scores},
        {"masked token scores", ModelOutput::masked_token_scores},
        {"click score", ModelOutput::click_scores}};
    const auto found = outputs.find(gives);
    return found == outputs.end() ? ModelOutput::scores : found->second;
}

/// Kinds of data that the text takes; all kinds where its inputs could not be read.
std::vector<FieldKind> inputs_of_text(const network::NetworkSyntax& syntax) {
    static const std::vector<FieldKind> all = {FieldKind::image, FieldKind::features,
                                               FieldKind::tokens, FieldKind::indices};
    std::vector<FieldKind> out;
    for (const auto& names : syntax.inputs) {
        std::vector<FieldKind> own;
        for (const FieldKind kind : all) {
            if (std::ranges::find(names, name(kind)) != names.end()) own.push_back(kind);
        }
        // Data with ids of tables are called by these (DatasetDescriptor::input).
        const bool ids = std::ranges::find(own, FieldKind::indices) != own.end();
        if (out.empty() || ids) out = own;
    }
    return out.empty() ? all : out;
}

/// Adds the options of the text to those of its kind of model.
void add_options(std::vector<OptionSpec>& all, const network::NetworkSyntax& syntax,
                 std::vector<NetworkFault>& faults) {
    const std::size_t own = all.size();
    for (OptionSpec& option : network::text_options(syntax, faults)) {
        if (find_option(std::span(all).first(own), option.name) == nullptr) {
            all.push_back(std::move(option));
            continue;
        }
        const auto line = std::ranges::find(syntax.options, option.name, &network::OptionLine::name);
        faults.push_back({line->place,
                          msg("{}: the detector has an option of this name. Use another one.",
                              option.name),
                          {}});
    }
}

std::shared_ptr<const NetworkText> read_lines(const NetworkLines& lines,
                                              const ModelDescriptor& kind) {
    auto out = std::make_shared<NetworkText>();
    const std::string text = joined_lines(lines);
    out->sha256 = sha256_of(std::as_bytes(std::span(text)));
    std::vector<NetworkFault> faults;
    const network::NetworkSyntax syntax = network::parse_network(text, faults);
    out->model = kind;
    add_options(out->model.options, syntax, faults);
    out->model.inputs = inputs_of_text(syntax);
    out->model.has_blocks = !syntax.blocks.empty();
    if (kind.output != ModelOutput::detections) {
        out->model.output = output_named(syntax.gives);
        if (syntax.gives == "stages")
            faults.push_back({syntax.network,
                              msg("A network that gives stages is the body of a detector: set "
                                  "model.kind=maskrcnn-file."),
                              {}});
    }
    for (const NetworkFault& fault : faults) {
        if (!fault.note) out->faults.push_back({fault.place.line, fault.place.column, fault.text});
    }
    return out;
}

/// The texts that were read last, and all that are in use.
class NetworkTexts {
public:
    std::shared_ptr<const NetworkText> read(const NetworkLines& lines,
                                            const ModelDescriptor& kind) {
        const std::lock_guard lock(mutex_);
        const auto found = texts_.find({kind.kind, lines});
        if (found != texts_.end()) {
            found->second.used = ++clock_;
            return found->second.text;
        }
        const auto text = read_lines(lines, kind);
        texts_.emplace(std::pair(kind.kind, lines), Entry{text, ++clock_});
        drop_oldest();
        return text;
    }

private:
    struct Entry {
        std::shared_ptr<const NetworkText> text;
        std::uint64_t used = 0;
    };
    static constexpr std::size_t kept = 256;

    void drop_oldest() {
        while (texts_.size() > kept) {
            auto oldest = texts_.end();
            for (auto each = texts_.begin(); each != texts_.end(); ++each) {
                const bool free = each->second.text.use_count() == 1;
                if (free && (oldest == texts_.end() || each->second.used < oldest->second.used))
                    oldest = each;
            }
            if (oldest == texts_.end()) return;
            texts_.erase(oldest);
        }
    }

    std::mutex mutex_;
    std::map<std::pair<std::string, NetworkLines>, Entry> texts_;  // by kind of model
    std::uint64_t clock_ = 0;
};

}  // namespace

std::shared_ptr<const NetworkText> read_network(const NetworkLines& lines, std::string_view kind) {
    static NetworkTexts texts;
    const ModelDescriptor* model = find_kind(models(), kind);
    if (model == nullptr || !model->from_text)
        model = &*std::ranges::find_if(models(), &ModelDescriptor::from_text);
    return texts.read(lines, *model);
}

std::string joined_lines(const NetworkLines& lines) {
    std::string text;
    for (const std::string& line : lines.all) text += line + '\n';
    return text;
}

void check_network_hash(const ModelConfig& model) {
    if (!model.sha256.empty() && read_network(model.network)->sha256 != model.sha256)
        throw Error(ErrorCode::settings,
                    msg("model.sha256: {}: the text of the network has another hash", model.sha256));
}

NetworkLines read_network_file(const std::string& path) {
    if (path.ends_with(".onnx"))
        throw Error(ErrorCode::data, msg("An ONNX model becomes a text first."),
                    msg("Use halftone network FILE.onnx --to network -o NAME.network, which writes its weights too."));
    const auto refuse = [&](const Message& what) {
        throw Error(ErrorCode::data, what, msg("Choose a network as text, NAME.network."));
    };
    const auto found = read_regular_file(path, network::TextLimits::bytes + 1);
    if (!found) refuse(msg("There is no file that can be read."));
    std::string text = *found;
    if (text.size() > network::TextLimits::bytes)
        refuse(msg("The file has more than {} bytes.", network::TextLimits::bytes));
    Utf8Checker checker;
    if (!checker.accept(text) || !checker.complete() || text.find('\0') != text.npos)
        refuse(msg("The file is not a text in UTF-8."));
    if (text.starts_with(byte_order_mark)) text.erase(0, byte_order_mark.size());
    NetworkLines out;
    std::istringstream lines(text);
    for (std::string line; std::getline(lines, line);) {
        if (line.ends_with('\r')) line.pop_back();
        out.all.push_back(std::move(line));
    }
    if (out.empty()) refuse(msg("The file is empty."));
    // Faults quote words of a text: none of a file that is something else.
    if (std::ranges::none_of(out.all, [](const std::string& line) { return line.starts_with("network"); }))
        refuse(msg("The file has no line that begins with network."));
    return out;
}

Message other_text_in_file(const ModelConfig& model) {
    if (model.path.empty() || model.network.empty()) return {};
    try {
        if (read_network_file(model.path) == model.network) return {};
    } catch (const Error&) {
        return {};  // the text in the settings is all that is needed
    }
    return msg("The text in model.network is used: {} has another one. --set model.path={} takes that "
               "of the file.",
               model.path, model.path);
}

namespace {

std::unique_ptr<Model> make_file_model(const ModelSetup& setup) {
    const ModelConfig& model = setup.config;
    check_network_hash(model);
    auto made = make_network_model(joined_lines(model.network), model.options, setup.shape, setup.seed,
                                   setup.device, !model.init_from.empty() || !setup.seed);
    for (const FieldSpec& field : setup.shape.inputs) {
        if (field.windowed && made->context() > 0 && field.shape[0] > made->context())
            throw Error(ErrorCode::settings,
                        msg("bptt: {}: use at most {}, the places that Positions has in the network",
                            field.shape[0], made->context()));
    }
    return made;
}

std::int64_t count_file_parameters(const ModelSetup& setup) {
    const ModelConfig& model = setup.config;
    const CheckedNetwork checked =
        check_network(joined_lines(model.network), network_data(setup.shape, model.options));
    // With faults none is made: this throws.
    return checked.usable() ? checked.parameter_count() : make_file_model(setup)->parameter_count();
}

/// Whether the text is the whole model.
bool is_text_alone(const ModelConfig& config) {
    return model_descriptor(config)->make == make_file_model;
}

}  // namespace

double count_fixed_numbers(const ModelConfig& config, const ModelShape& shape) {
    double count = 0;
    if (!is_text_alone(config)) {
        const auto model = make_model(config, shape, std::nullopt, Device{});
        for (const Parameter& each : model->buffers())
            count += static_cast<double>(each.tensor.numel());
        return count;
    }
    const CheckedNetwork checked =
        check_network(joined_lines(config.network), network_data(shape, config.options));
    const auto add = [&](const std::vector<std::int64_t>& sizes) {
        count += std::accumulate(sizes.begin(), sizes.end(), 1.0, std::multiplies());
    };
    for (const NetworkTensor& each : checked.buffers) add(each.sizes);
    for (const NetworkParameter& each : checked.parameters)
        if (each.fixed) add(each.sizes);
    return count;
}

std::optional<FinalProbabilities> final_probabilities(const ModelConfig& config,
                                                      const ModelShape& shape) {
    if (!is_text_alone(config)) return {};
    std::vector<NetworkFault> faults;
    const std::string text = joined_lines(config.network);
    const network::NetworkSyntax syntax = network::parse_network(text, faults);
    const network::NetworkGraph graph =
        network::expand_network(syntax, network_data(shape, config.options), faults);
    if (graph.outputs.size() != 1) return {};
    const bool clicks = output_named(syntax.gives) == ModelOutput::click_scores;
    const std::string wanted = clicks ? "Sigmoid" : "Softmax";
    for (int value = graph.outputs.front();;) {
        const int maker = graph.values[static_cast<std::size_t>(value)].node;
        if (maker < 0) return {};
        const network::GraphNode& node = graph.nodes[static_cast<std::size_t>(maker)];
        if (node.kind->name != wanted) {
            if (!network::layer_run(*node.kind).view || node.kind->name == "Positions") return {};
            value = node.inputs.front();
            continue;
        }
        // In a block or a repeat the line makes other layers too.
        const auto on_line = [&](const network::GraphNode& each) { return each.place.line == node.place.line && each.kind == node.kind; };
        if (std::ranges::count_if(graph.nodes, on_line) > 1) return {};
        FinalProbabilities found{wanted, node.place.line, config.network};
        std::string& line = found.without.all[static_cast<std::size_t>(found.line - 1)];
        const std::size_t begin = line.find(wanted, static_cast<std::size_t>(node.place.column - 1));
        if (begin == line.npos) return {};
        std::size_t end = begin + wanted.size();
        int open = 0;
        for (; end < line.size() && (open > 0 || line[end] == '('); ++end) {
            if (line[end] == '(') ++open;
            if (line[end] == ')' && --open == 0) {
                ++end;
                break;
            }
        }
        if (open > 0) return {};  // its brackets end on another line
        line.replace(begin, end - begin, "Identity");
        return found;
    }
}

std::string model_name(const ModelConfig& model) {
    const ModelDescriptor* kind = find_kind(models(), model.kind);
    if (kind == nullptr || !kind->from_text) return model.kind;
    const std::string stem = fs::path(model.path).stem().string();
    return stem.empty() ? "own network" : stem;
}

ModelDescriptor file_descriptor() {
    return {.kind = "file",
            .title = "Own network",
            .summary = "The network of a text that you write: one layer a line, with PyTorch's names.",
            .inputs = {FieldKind::image, FieldKind::features, FieldKind::tokens,
                       FieldKind::indices},
            .output = ModelOutput::scores,
            .second_derivative = true,  // all kinds of layers have one
            .from_text = true,
            .make = make_file_model,
            .count = count_file_parameters};
}

}  // namespace engine
