#include "session/next_step.h"

#include <exception>
#include <memory>
#include <new>
#include <utility>

#include "engine/base/error.h"
#include "tensor/memory/memory.h"
#include "tensor/restore.h"

namespace engine {
namespace {

/// Out of the run's memory accounting: a copy that is kept must not show up in its record.
void release_from_run(TrainingState& state) {
    const AccountingScope own(std::make_shared<MemoryAccounting>());
    for (TensorMap* const tensors : {&state.weights, &state.optimizer, &state.carried, &state.quantization}) {
        for (auto& [name, tensor] : *tensors) tensor = snapshot(tensor);
    }
}

NextStepCapture captured(RunLoop& loop) {
    try {
        const auto capsule = std::make_shared<StepCapsule>(loop.capsule());
        release_from_run(capsule->before);
        return {CapturedStep(capsule), {}};
    } catch (const Error& error) {
        return {std::nullopt, error.message()};
    } catch (const std::bad_alloc&) {
        return {std::nullopt, msg("This machine is out of memory.")};
    } catch (const std::exception& error) {
        return {std::nullopt, msg("The step cannot be copied: {}.", error.what())};
    }
}

}  // namespace

void NextStep::ask(Answer answer) {
    Message why;
    {
        const std::lock_guard lock(mutex_);
        if (closed_.empty()) {
            answers_.push_back(std::move(answer));
            asked_ = true;
            return;
        }
        why = closed_;
    }
    answer({std::nullopt, why});
}

void NextStep::give(RunLoop& loop) { answer(captured(loop)); }

void NextStep::refuse(const Message& why) { answer({std::nullopt, why}); }

void NextStep::close(const Message& why) {
    {
        const std::lock_guard lock(mutex_);
        closed_ = why;
    }
    refuse(why);
}

void NextStep::answer(const NextStepCapture& capture) {
    std::vector<Answer> taken;
    {
        const std::lock_guard lock(mutex_);
        taken.swap(answers_);
        asked_ = false;
    }
    for (const Answer& each : taken) each(capture);
}

}  // namespace engine
