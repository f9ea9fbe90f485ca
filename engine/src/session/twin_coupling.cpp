#include "session/twin_coupling.h"

#include <utility>

#include "engine/base/error.h"

namespace engine {

/// Keeps the gradients of the session that computes first.
class Twin::Coupling::Keeper final : public StepObserver {
public:
    explicit Keeper(Coupling& coupling) : coupling_(coupling) {}
    void begin(const StepView&) override {
        coupling_.kept_.clear();
        coupling_.begin_sharing();
    }
    void before_update(const StepView& step) override {
        coupling_.kept_.merge(unscaled_gradients(step));
    }

private:
    Coupling& coupling_;
};

/// Compares the gradients of the reference with those that were kept.
class Twin::Coupling::Comparer final : public StepObserver {
public:
    explicit Comparer(Coupling& coupling) : coupling_(coupling) {}
    void begin(const StepView&) override {
        own_.clear();
        coupling_.half(Side::reference).loop->trainer().set_decisions(coupling_.decisions_);
    }
    void before_update(const StepView& step) override {
        own_.merge(unscaled_gradients(step));
        skipping_ = skips_too();
        if (skipping_) {
            for (Optimizer* optimizer : step.optimizers)
                optimizer->found_inf = Tensor::full({}, 1, DType::f32, optimizer->device());
        }
        if (step.phase + 1 == step.task.phases().size()) compare(step.step);
    }
    void after_update(const StepView& step) override {
        if (!std::exchange(skipping_, false)) return;
        for (Optimizer* optimizer : step.optimizers) optimizer->found_inf = {};
    }
    void end(const StepView&) override { own_.clear(); }

private:
    bool skips_too() const {
        const std::lock_guard lock(coupling_.mutex_);
        return coupling_.options_.skip_together && coupling_.half(Side::other).skipped;
    }
    void compare(std::int64_t step) {
        coupling_.rows_.clear();
        for (std::size_t i = 0; i < coupling_.layers_.size(); ++i) {
            const GradientGap gap = gradient_gap(own_, coupling_.kept_, coupling_.layers_[i]);
            coupling_.rows_.push_back({.step = step,
                                       .layer = static_cast<std::int32_t>(i),
                                       .error = static_cast<float>(gap.error),
                                       .angle = static_cast<float>(gap.angle),
                                       .skipped = coupling_.half(Side::other).skipped});
        }
    }

    Coupling& coupling_;
    GradientMap own_;
    bool skipping_ = false;
};

Twin::Coupling::Coupling(const TwinOptions& options) : options_(options) {}
Twin::Coupling::~Coupling() = default;

void Twin::Coupling::resync() {
    const std::lock_guard lock(mutex_);
    resync_asked_ = true;
}

void Twin::Coupling::set_resync_every(std::int64_t steps) {
    const std::lock_guard lock(mutex_);
    options_.resync_every = steps;
}

void Twin::Coupling::set_skip_together(bool on) {
    const std::lock_guard lock(mutex_);
    options_.skip_together = on;
}

void Twin::Coupling::join(Side side, RunLoop& loop) {
    half(side).loop = &loop;
    half(side).steps = loop.trainer().steps();
    half(side).updates = loop.trainer().updates();
    if (half(Side::reference).loop != nullptr && half(Side::other).loop != nullptr) start();
}

void Twin::Coupling::start() {
    Half &reference = half(Side::reference), &other = half(Side::other);
    layers_ = parameter_layers(reference.loop->trainer().model());
    const auto theirs = parameter_layers(other.loop->trainer().model());
    const auto same = [](const ParameterLayer& a, const ParameterLayer& b) {
        return a.parameters == b.parameters;
    };
    const bool together = reference.steps == other.steps || !takes_over();
    if (!std::ranges::equal(layers_, theirs, same) || !together) {
        layers_.clear();
        throw Error(
            ErrorCode::state,
            msg("The two runs of a twin must have the same model and start at the same step."));
    }
    if (may_couple()) couple();
}

/// Whether one half gets its state or its skips from the other one.
bool Twin::Coupling::takes_over() const {
    const std::lock_guard lock(mutex_);
    return options_.skip_together || options_.share_proposals || options_.resync_every > 0;
}

/// The second one begins a step, whose decisions the reference takes.
void Twin::Coupling::begin_sharing() {
    {
        const std::lock_guard lock(mutex_);
        if (!options_.share_proposals) return;
    }
    decisions_ = std::make_shared<StepDecisions>();
    half(Side::other).loop->trainer().set_decisions(decisions_);
}

bool Twin::Coupling::may_couple() const {
    const Half &reference = half(Side::reference), &other = half(Side::other);
    return !writer_ && !layers_.empty() && !reference.left && !other.left &&
           reference.steps == other.steps;
}

void Twin::Coupling::couple() {
    Half &reference = half(Side::reference), &other = half(Side::other);
    std::vector<std::string> names;
    for (const ParameterLayer& layer : layers_) names.push_back(layer.name);
    writer_.emplace(TwinRecordWriter::go_on(other.loop->folder(), reference.loop->run(), names,
                                            other.steps));
    other.observer = std::make_shared<Keeper>(*this);
    reference.observer = std::make_shared<Comparer>(*this);
    for (Half& each : halves_) each.loop->trainer().attach(each.observer);
}

bool Twin::Coupling::is_behind(Side side) const {
    const Half& other_one = half(side == Side::reference ? Side::other : Side::reference);
    return !layers_.empty() && !half(side).left && !other_one.left &&
           half(side).steps < other_one.steps;
}

bool Twin::Coupling::may_step(Side side) const {
    const Half &reference = half(Side::reference), &other = half(Side::other);
    if (reference.left || other.left) return true;
    if (layers_.empty()) return false;  // one of them is still preparing
    if (!writer_) return is_behind(side);
    return side == Side::other ? other.steps <= reference.steps : reference.steps < other.steps;
}

void Twin::Coupling::stepped(Side side) {
    Half& here = half(side);
    ++here.steps;
    const std::int64_t updates = here.loop->trainer().updates();
    here.skipped = updates == here.updates;
    here.updates = updates;
    if (side == Side::reference && writer_) finish_step();
    if (may_couple()) couple();
}

bool Twin::Coupling::resync_is_due(std::int64_t step) {
    const std::lock_guard lock(mutex_);
    const bool asked = std::exchange(resync_asked_, false);
    return asked || (options_.resync_every > 0 && step % options_.resync_every == 0);
}

void Twin::Coupling::finish_step() {
    kept_.clear();
    if (rows_.empty()) return;
    const bool resynced = resync_is_due(rows_.front().step);
    if (resynced) copy_state();
    for (TwinRow& row : rows_) row.resynced = resynced;
    try {
        writer_->append(rows_);
    } catch (const Error&) {
        uncouple();
        throw;
    }
}

void Twin::Coupling::copy_state() {
    TrainingState state = half(Side::reference).loop->trainer().saved_state();
    state.scaler.clear();  // each keeps its own
    Trainer& other = half(Side::other).loop->trainer();
    if (state.quantization.empty()) state.quantization = other.saved_state().quantization;
    other.load_state(state, {.same_precision = false, .same_optimizer = true, .own_updates = true});
}

void Twin::Coupling::uncouple() {
    for (Half& each : halves_) {
        if (each.loop != nullptr && each.observer && !each.left) {
            each.loop->trainer().detach(*each.observer);
            each.loop->trainer().set_decisions(nullptr);
        }
        each.observer.reset();
    }
    writer_.reset();
    for (Half& each : halves_) each.left = true;
}

void Twin::Coupling::leave(Side side) {
    uncouple();
    half(side).left = true;
    half(side).loop = nullptr;
}

Twin::Twin(const TwinOptions& options) : coupling_(std::make_unique<Coupling>(options)) {}
Twin::~Twin() = default;
void Twin::resync() { coupling_->resync(); }
void Twin::set_resync_every(std::int64_t steps) { coupling_->set_resync_every(steps); }
void Twin::set_skip_together(bool on) { coupling_->set_skip_together(on); }

}  // namespace engine
