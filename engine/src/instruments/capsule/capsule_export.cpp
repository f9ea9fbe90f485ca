// A capsule as a PyTorch script.
#include <nlohmann/json.hpp>
#include <sstream>
#include <system_error>

#include "amp/call_trace.h"
#include "engine/base/error.h"
#include "engine/instruments/capsule.h"
#include "engine/io/named_file.h"
#include "instruments/capsule/capsule_file.h"
#include "ops/attention/attention.h"
#include "ops/conv/conv_transpose.h"
#include "ops/conv/convolution.h"
#include "ops/index/embedding_bag.h"
#include "ops/norm/batch_norm.h"
#include "ops/pool/pool.h"
#include "ops/recurrent/recurrent.h"
#include "tensor/device.h"

namespace engine {

/// Computes the step of a capsule in PyTorch with a check after every operation: the files of
/// capsule/pytorch/ in the order of their names in CMakeLists.txt. Needs torch. Python; before it
/// come lines that import json and set CAPSULE (path), PROGRAM (StepProgram::text()), DEVICE and
/// SCALE. capsule/pytorch_script.cpp.in defines it.
std::string pytorch_script();

namespace {

namespace fs = std::filesystem;
using nlohmann::json;

/// Whether the table of operations in ops.py has this one.
bool has_python(const Op& op) {
    static const std::string script = pytorch_script();
    return script.find("\n    \"" + std::string(op.name) + "\": ") != script.npos;
}

/// The operations that led to the losses of a step, as a list for PyTorch. Tensors are numbers;
/// those of the capsule and constants come first.
class StepProgram final : public StepObserver {
public:
    explicit StepProgram(const StepCapsule& capsule) : capsule_(capsule) {}

    void before_forward(const StepView& step, DeviceBatch& batch, TensorList& state) override;
    void after_forward(const StepView& step, const TensorList& losses) override;
    void end(const StepView&) override { trace_.reset(); }
    /// {tensors: {number: source}, batches: [{calls, loss, weight}]}
    std::string text() const { return json{{"tensors", tensors_}, {"batches", batches_}}.dump(); }

private:
    struct Trace final : CallTrace {
        explicit Trace(StepProgram& program) : to(program) {}
        bool has(const Op& info) const override { return has_python(info); }
        void on_traced(const TracedCall& call) override { to.add(call); }
        void on_same_value(const Tensor& shown, const Tensor& own) override {
            to.numbers_[tensor_place(own)] = to.number(shown);
        }
        using CallTrace::unknown_maker;
        StepProgram& to;
    };

    void add(const TracedCall& call);
    json attributes(const TracedCall& call);
    std::int64_t number(const Tensor& tensor);
    std::int64_t keep(const Tensor& tensor);
    void add_source(const Tensor& tensor, json source);

    const StepCapsule& capsule_;
    json tensors_ = json::object(), batches_ = json::array(), calls_;
    std::map<TensorPlace, std::int64_t> numbers_;
    TensorList kept_;  // so that no other tensor takes the place of one
    std::optional<Trace> trace_;
};

std::int64_t StepProgram::keep(const Tensor& tensor) {
    kept_.push_back(tensor);
    return numbers_[tensor_place(tensor)] = static_cast<std::int64_t>(kept_.size());
}

void StepProgram::add_source(const Tensor& tensor, json source) {
    source["dtype"] = name(tensor.dtype());
    source["shape"] = std::vector(tensor.shape().begin(), tensor.shape().end());
    tensors_[std::to_string(keep(tensor))] = std::move(source);
}

std::int64_t StepProgram::number(const Tensor& tensor) {
    const TensorPlace place = tensor_place(tensor);
    if (const auto found = numbers_.find(place); found != numbers_.end()) return found->second;
    if (const std::string_view op = trace_->unknown_maker(tensor); !op.empty())
        throw Error(ErrorCode::settings,
                    msg("There is no PyTorch script for the operation {}.", op));
    add_source(tensor, {{"values", tensor.values()}});
    return numbers_[place];
}

void StepProgram::before_forward(const StepView& step, DeviceBatch& batch, TensorList& state) {
    if (batches_.empty()) {
        for (const auto* list : {&step.model.parameters(), &step.model.buffers()})
            for (const Parameter& each : *list)
                add_source(each.tensor, {{"name", "weights/" + each.name},
                                         {"trained", each.tensor.requires_grad()}});
    }
    const auto& fields = step.task.schema(true).fields;
    const std::string prefix = "batch/" + std::to_string(step.micro_batch) + "/";
    for (std::size_t i = 0; i < fields.size(); ++i)
        if (batch[i].defined()) add_source(batch[i], {{"name", prefix + fields[i].name}});
    calls_ = json::array();
    for (std::size_t i = 0; i < state.size(); ++i) {
        // From the micro-batch before, without its graph.
        if (const auto from = numbers_.find(tensor_place(state[i])); from != numbers_.end())
            calls_.push_back({"detach",
                              "",
                              {from->second},
                              json::array(),
                              {{keep(state[i]), name(state[i].dtype())}}});
        else
            add_source(state[i], {{"name", "carried/" + std::to_string(i)}});
    }
    trace_.emplace(*this);
}

void StepProgram::after_forward(const StepView& step, const TensorList& losses) {
    const std::int64_t loss = number(losses.front());
    trace_.reset();
    double all = 0;
    const auto terms = [&](const Batch& batch) {
        return static_cast<double>(step.task.loss_terms(batch.rows(), batch.samples));
    };
    for (const Batch& each : capsule_.batches) all += terms(each);
    batches_.push_back({{"calls", std::move(calls_)},
                        {"loss", loss},
                        {"weight", terms(capsule_.batches[step.micro_batch]) / all}});
}

void StepProgram::add(const TracedCall& call) {
    json inputs = json::array(), outputs = json::array();
    for (const Tensor& each : call.inputs) inputs.push_back(number(each));
    json given = attributes(call);
    for (const Tensor& each : call.outputs) outputs.push_back({keep(each), name(each.dtype())});
    calls_.push_back({call.info.name, current_module(), std::move(inputs), std::move(given),
                      std::move(outputs)});
}

/// Whatever an operation gets beside its tensors, in the order of its C++ function.
json StepProgram::attributes(const TracedCall& call) {
    json out = json::array();
    const auto add = [&out](const auto&... values) { (out.push_back(values), ...); };
    const auto add_number = [&](const Tensor& tensor) {
        out.push_back(tensor.defined() ? json{{"tensor", number(tensor)}} : json());
    };
    const std::string_view op = call.info.name;
    const Shape& shape = call.outputs[0].shape();
    if (op == "reshape" || op == "expand") add(std::vector(shape.begin(), shape.end()));
    if (op == "adaptive_avg_pool2d") add(std::vector(shape.end() - 2, shape.end()));
    if (op == "permute") add(call.order());
    if (op == "cat" || op == "index_select" || op == "gather" || op == "narrow")
        add(std::max(call.changed_dim(), 0));
    if (op == "narrow") {
        const int dim = std::max(call.changed_dim(), 0);
        const Tensor &x = call.inputs[0], &y = call.outputs[0];
        add((y.impl()->offset - x.impl()->offset) / x.strides()[dim], y.size(dim));
    }
    if (!out.empty()) return out;
    for (const CallArgument& each : call.arguments) {
        if (const auto* o = each.as<Conv2dOptions>())
            add(o->stride, o->padding, o->dilation, o->groups);
        if (const auto* o = each.as<ConvTransposeOptions>())
            add(o->stride, o->padding, o->output_padding, o->groups, o->dilation);
        if (const auto* o = each.as<PoolOptions>())
            add(o->kernel, o->stride.empty() ? o->kernel : o->stride, o->padding, o->dilation,
                o->ceil_mode, o->count_include_pad);
        if (const auto* o = each.as<BatchNormTensors>()) {
            add_number(o->weight);
            add_number(o->bias);
        }
        if (const auto* o = each.as<BatchNormOptions>()) add(o->eps);
        if (const auto* o = each.as<AttentionOptions>())
            add(o->is_causal, o->dropout_p, o->random_offset);
        if (const auto* o = each.as<EmbeddingBagOptions>()) add(name(o->mode));
        if (const auto* o = each.as<RecurrentOptions>())
            add(o->num_layers, o->train ? o->dropout : 0., o->random_offset);
        if (const auto* value = each.as<double>()) add(*value);
        if (const auto* value = each.as<bool>()) add(*value);
        if (const auto* value = each.as<std::string>()) add(*value);
        if (const auto* value = each.as<std::int64_t>()) add(*value);
        if (const auto* value = each.as<std::uint64_t>()) add(*value);
        if (const auto* value = each.as<std::vector<std::int64_t>>()) add(*value);
    }
    return out;
}

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
    if (config.gradient_penalty != 0)
        throw Error(ErrorCode::settings,
                    msg("There is no PyTorch script for a step with a gradient penalty."));
    if (config.teach != TeachConfig{})
        throw Error(ErrorCode::settings,
                    msg("There is no PyTorch script for a run that is broken on purpose (teach)."));
    CapsuleStep step(content.capsule);
    if (step.trainer().task().phases().size() != 1)
        throw Error(ErrorCode::settings,
                    msg("There is no PyTorch script for the model {}.", config.model.kind));
    const auto program = std::make_shared<StepProgram>(content.capsule);
    step.trainer().attach(program);
    step.run();
    std::ostringstream out;
    out.precision(17);
    out << "# Step " << content.capsule.step()
        << " of a run of Halftone, computed again in PyTorch.\n"
        << "import json\n\n"
        << "CAPSULE = " << quoted(seen_from(capsule_file, script).string()) << '\n'
        << "PROGRAM = json.loads(" << quoted(program->text()) << ")\n"
        << "DEVICE = "
        << (resolve_device(config.device).kind == Device::Kind::cuda ? "\"cuda\"" : "\"cpu\"")
        << '\n'
        << "SCALE = " << content.facts.loss_scale << '\n'
        << pytorch_script();
    write_named_file(script, out.str());
}

}  // namespace engine
