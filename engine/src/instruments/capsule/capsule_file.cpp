#include "instruments/capsule/capsule_file.h"

#include <cmath>
#include <nlohmann/json.hpp>
#include <system_error>

#include "base/json_fields.h"
#include "base/json_reader.h"
#include "data/schema_json.h"
#include "engine/base/error.h"
#include "instruments/replay/phase_gradients.h"
#include "instruments/replay/tensor_scan.h"
#include "instruments/skips/skip_json.h"
#include "io/file/sha256.h"
#include "io/safetensors/safetensors.h"
#include "io/safetensors/tensor_file.h"
#include "settings/config_reader.h"
#include "tasks/task_descriptor.h"
#include "tensor/layout.h"

namespace engine {
namespace {

namespace fs = std::filesystem;

}  // namespace

void list_fields(const auto& f, Is<CapsuleMachine> auto& machine) {
    f("program", machine.program, "device", machine.device, "features", machine.features,
      "onednn", machine.onednn, "threads", machine.threads);
}

void list_fields(const auto& f, Is<GradientFigures> auto& gradients) {
    f("sha256", gradients.sha256, "norms", gradients.norms);
}

void list_fields(const auto& f, Is<Batch> auto& batch) {
    f("samples", batch.samples, "full", batch.full, "epoch", batch.epoch,
      "index_in_epoch", batch.index_in_epoch, "position", batch.position,
      "last_of_epoch", batch.last_of_epoch);
}

namespace {

constexpr char metadata_key[] = "halftone_capsule";
constexpr int format = 1;
constexpr std::size_t max_batches = 65536, max_fields = 256;
constexpr double max_count = 0x1p53;

struct Prefix {
    TensorMap TrainingState::*map;
    const char* text;
};
constexpr Prefix prefixes[] = {{&TrainingState::weights, "weights/"},
                               {&TrainingState::optimizer, "optimizer/"},
                               {&TrainingState::carried, "carried/"}};

[[noreturn]] void refuse(const fs::path& file, const Message& reason) {
    throw Error(ErrorCode::data, msg("{}: not a capsule: {}", file.string(), reason.str()),
                msg("Give a file that halftone skips RUN STEP --capsule wrote."));
}

// Writing.

void list_metadata(const auto& f, auto& capsule, auto& facts) {
    f("run", facts.run);
    f.derived("step", [&] { return capsule.step(); });
    f.derived("config", [&] { return to_ordered_json(capsule.config); });
    f("fields", capsule.data.fields, "counts", capsule.before.counts,
      "scaler", capsule.before.scaler, "planned", capsule.planned.all,
      "rate_multiplier", capsule.rate_multiplier, "batches", capsule.batches,
      "machine", facts.machine, "loss", facts.loss, "loss_scale", facts.loss_scale,
      "bound", facts.bound);
    f.unless("steps_per_epoch", capsule.planned.per_epoch, std::int64_t{0});
    f.may_lack("loss_bound", facts.loss_bound, "overflow_varies", facts.overflow_varies);
    f("gradients", facts.gradients, "report", facts.report);
}

std::string batch_prefix(std::size_t batch) { return "batch/" + std::to_string(batch) + "/"; }
std::string decision_name(std::size_t batch, std::size_t number) {
    return "decisions/" + std::to_string(batch) + "/" + std::to_string(number);
}

/// Shape of a field of a batch as it lies in memory: images are N, H, W, C there.
Shape memory_shape(const FieldSpec& field, const Shape& shape) {
    if (field.kind != FieldKind::image || shape.rank() != 4) return shape;
    return {shape[0], shape[2], shape[3], shape[1]};
}

const char* name_in_file(DType dtype) {
    switch (dtype) {
        case DType::f32:
            return "F32";
        case DType::i64:
            return "I64";
        case DType::boolean:
            return "BOOL";
        default:
            throw Error(ErrorCode::state, std::string("capsule: a field of type ") + name(dtype));
    }
}

class Entries {
public:
    void add(const std::string& name, const Tensor& tensor) {
        static const std::map<DType, const char*> names = {
            {DType::f64, "F64"},   {DType::f32, "F32"},     {DType::f16, "F16"},
            {DType::bf16, "BF16"}, {DType::i64, "I64"},     {DType::i32, "I32"},
            {DType::u8, "U8"},     {DType::boolean, "BOOL"}};
        const Tensor& kept = held_.emplace_back(in_layout(tensor, Layout::contiguous));
        list.push_back({name,
                        names.at(kept.dtype()),
                        {kept.shape().begin(), kept.shape().end()},
                        {kept.data_as<const std::byte>(), kept.bytes()}});
    }
    void add(const std::string& prefix, const Batch& batch, const Schema& schema) {
        for (std::size_t i = 0; i < batch.fields.size(); ++i) {
            const FieldSpec& spec = schema.fields[i];
            const BatchField& field = batch.fields[i];
            const Shape shape = memory_shape(spec, field.shape);
            list.push_back({prefix + spec.name,
                            name_in_file(field.dtype),
                            {shape.begin(), shape.end()},
                            {field.bytes.data(), field.bytes.size()}});
        }
        list.push_back(
            {prefix + "indices", "I64", {batch.rows()}, std::as_bytes(std::span(batch.indices))});
    }
    std::vector<TensorEntry> list;

private:
    TensorList held_;
};

// Reading.

void check_count(std::int64_t number) {
    if (number < 0 || static_cast<double>(number) > max_count)
        throw std::invalid_argument("a count");
}

void check_numbers(const SavedNumbers& numbers) {
    for (const auto& [name, value] : numbers) {
        if (!(value >= 0) || !(value <= max_count * max_count))
            throw std::invalid_argument("a number");
    }
}

RunConfig read_config(const fs::path& file, const json& object) {
    json settings = object;
    // A capsule holds the weights; settings about a file of weights are not valid without one.
    for (const char* field : {"init_from", "init_key", "new_head"}) settings["model"].erase(field);
    const ParsedConfig parsed = parse_run_config(settings.dump());
    if (!parsed.errors.empty()) refuse(file, msg("its settings: {}", parsed.errors.front().str()));
    return parsed.config;
}

void read_metadata(const fs::path& file, const json& object, CapsuleContent& out) {
    if (object.at("format") != format) refuse(file, msg("it is of another version"));
    StepCapsule& capsule = out.capsule;
    capsule.config = read_config(file, object.at("config"));
    if (object.at("fields").size() > max_fields || object.at("batches").size() > max_batches)
        throw std::invalid_argument("too many");
    out.facts.loss_bound = std::numeric_limits<double>::infinity();  // earlier capsules lack it
    list_metadata(FieldReader{object}, capsule, out.facts);
    for (const SavedNumbers* numbers : {&capsule.before.counts, &capsule.before.scaler})
        check_numbers(*numbers);
    for (const char* needed : {"steps", "updates", "samples"})
        (void)saved_count(capsule.before.counts, needed);
    if (!std::isfinite(capsule.rate_multiplier)) throw std::invalid_argument("a number");
    for (const std::int64_t number : {capsule.planned.all, capsule.planned.per_epoch, out.facts.machine.threads})
        check_count(number);
    for (const Batch& batch : capsule.batches)
        for (const std::int64_t number :
             {batch.samples, batch.epoch, batch.index_in_epoch, batch.position})
            check_count(number);
    if (capsule.batches.empty()) throw std::invalid_argument("no batch");
}

/// The tensor as a field of this shape.
BatchField make_field(const fs::path& file, const FieldSpec& spec, const Tensor& tensor,
                      std::int64_t rows) {
    Shape shape = batch_shape(spec, rows);
    // Windows at the end of a text are shorter, and images that go by the batch smaller.
    const Shape in_memory = memory_shape(spec, shape);
    const bool same_rank = tensor.rank() == in_memory.rank();
    bool fits = same_rank && tensor.dtype() == spec.dtype;
    for (int dim = 0; fits && dim < in_memory.rank(); ++dim) {
        const bool by_batch = spec.by_batch && (dim == 1 || dim == 2);
        const bool may_be_less = by_batch || (spec.windowed && dim == 1);
        fits = may_be_less ? tensor.size(dim) > 0 && tensor.size(dim) <= in_memory[dim]
                           : tensor.size(dim) == in_memory[dim];
        if (fits && may_be_less) shape[by_batch ? dim + 1 : dim] = tensor.size(dim);
    }
    if (!fits) refuse(file, msg("the field {} is of another type or shape", spec.name));
    BatchField out;
    out.shape = shape;
    out.dtype = tensor.dtype();
    out.bytes.resize(tensor.bytes());
    std::copy_n(tensor.data_as<const std::byte>(), tensor.bytes(), out.bytes.begin());
    return out;
}

Tensor taken(const fs::path& file, TensorMap& tensors, const std::string& name) {
    const auto found = tensors.find(name);
    if (found == tensors.end()) refuse(file, msg("it has no tensor {}", name));
    const Tensor out = found->second;
    tensors.erase(found);
    return out;
}

void read_batch(const fs::path& file, const std::string& prefix, const Schema& schema,
                TensorMap& tensors, Batch& batch) {
    const Tensor indices = taken(file, tensors, prefix + "indices");
    if (indices.dtype() != DType::i64 || indices.rank() != 1 || indices.numel() == 0)
        refuse(file, msg("the sample numbers of a batch are of another type or shape"));
    const auto* first = indices.data_as<const std::int64_t>();
    batch.indices.assign(first, first + indices.numel());
    for (const FieldSpec& spec : schema.fields)
        batch.fields.push_back(
            make_field(file, spec, taken(file, tensors, prefix + spec.name), batch.rows()));
}

void read_decisions(const fs::path& file, TensorMap& tensors, const StepCapsule& capsule) {
    for (std::size_t i = 0; i < capsule.batches.size(); ++i) {
        TensorList read;
        while (tensors.contains(decision_name(i, read.size()))) {
            const Tensor each = taken(file, tensors, decision_name(i, read.size()));
            if (each.rank() == 0 || each.size(0) != capsule.batches[i].rows())
                refuse(file, msg("the decisions of a batch are of another shape"));
            read.push_back(each);
        }
        if (!read.empty()) capsule.decisions->keep(i, read);
    }
}

void read_tensors(const fs::path& file, CapsuleContent& out) {
    TensorMap tensors = load_tensors(file);
    const auto task = make_task(out.capsule.config, out.capsule.data);
    for (std::size_t i = 0; i < out.capsule.batches.size(); ++i)
        read_batch(file, batch_prefix(i), task->schema(true), tensors, out.capsule.batches[i]);
    read_decisions(file, tensors, out.capsule);
    for (const auto& [name, tensor] : tensors) {
        bool known = false;
        for (const Prefix& prefix : prefixes) {
            if (!name.starts_with(prefix.text)) continue;
            (out.capsule.before.*prefix.map)[name.substr(std::string(prefix.text).size())] = tensor;
            known = true;
        }
        if (!known) refuse(file, msg("it has a tensor of another name"));
    }
}

}  // namespace

void GradientRecord::before_update(const StepView& step) {
    for_each_gradient(step, [&](const PhaseGradient& gradient) {
        const Tensor host = in_layout(stored_values(gradient.values).detach(), Layout::contiguous)
                                .copy_to(Device{});
        digests_[gradient.name] = sha256_of({host.data_as<std::byte>(), host.bytes()});
        double squares = 0;
        for (const double value : host.values()) squares += value * value;
        norms_[gradient.name] = std::sqrt(squares);
    });
}

GradientFigures GradientRecord::figures() const {
    std::string all;
    for (const auto& [name, digest] : digests_) all += name + ' ' + digest + '\n';
    return {sha256_of(std::as_bytes(std::span(all))), norms_};
}

void to_json(ordered_json& out, const CapsuleMachine& machine) {
    list_fields(FieldWriter{out}, machine);
}

std::int64_t write_capsule_file(const fs::path& file, const StepCapsule& capsule,
                                const CapsuleFacts& facts) {
    Entries entries;
    for (const Prefix& prefix : prefixes) {
        for (const auto& [name, tensor] : capsule.before.*prefix.map)
            entries.add(prefix.text + name, tensor);
    }
    const auto task = make_task(capsule.config, capsule.data);
    for (std::size_t i = 0; i < capsule.batches.size(); ++i)
        entries.add(batch_prefix(i), capsule.batches[i], task->schema(true));
    for (std::size_t i = 0; i < capsule.batches.size(); ++i) {
        const TensorList decisions = capsule.decisions->at(i);
        for (std::size_t k = 0; k < decisions.size(); ++k)
            entries.add(decision_name(i, k), decisions[k]);
    }
    ordered_json metadata = {{"format", format}};
    list_metadata(FieldWriter{metadata}, capsule, facts);
    write_safetensors(file, entries.list, {{metadata_key, dumped(metadata)}});
    std::error_code error;
    const auto bytes = fs::file_size(file, error);
    return error ? 0 : static_cast<std::int64_t>(bytes);
}

CapsuleContent read_capsule_file(const fs::path& file) {
    const SafetensorsFile opened = SafetensorsFile::open(file);
    const auto text = opened.metadata().find(metadata_key);
    if (text == opened.metadata().end()) refuse(file, msg("it does not say what it holds"));
    CapsuleContent out;
    try {
        read_metadata(file, read_json(text->second), out);
    } catch (const json::exception&) {
        refuse(file, msg("its description is damaged"));
    } catch (const std::invalid_argument&) {
        refuse(file, msg("its description is damaged"));
    }
    read_tensors(file, out);
    return out;
}

}  // namespace engine
