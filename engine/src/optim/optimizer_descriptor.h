#pragma once

#include <memory>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "engine/settings/catalog.h"
#include "optim/common_options.h"
#include "optim/optimizer.h"

namespace engine {

/// The kind of this name of optimizers() and schedules(). Throws Error(settings) if there is none.
const OptimizerDescriptor& optimizer_descriptor(const std::string& kind);
const ScheduleDescriptor& schedule_descriptor(const std::string& kind);

/// optimizer.lr, which a schedule moves.
double learning_rate(const OptimizerConfig& config);

/// An option of a kind of optimizer and the member of its settings that it sets. An enum stands for
/// the option's words by their place.
template <typename Settings>
struct OptimizerOption {
    OptionSpec spec;
    std::variant<double Settings::*, bool Settings::*, kernels::NormKind Settings::*> member;

    void set_default(const Settings& settings) {
        const auto assign = [&](auto at) {
            if constexpr (std::is_enum_v<std::decay_t<decltype(settings.*at)>>)
                spec.default_value = spec.choices[static_cast<std::size_t>(settings.*at)].value;
            else
                spec.default_value = settings.*at;
        };
        std::visit(assign, member);
    }
    void read(const TypedOptions& given, Settings& settings) const {
        const auto assign = [&](auto at) {
            using Value = std::decay_t<decltype(settings.*at)>;
            if constexpr (std::is_same_v<Value, double>)
                settings.*at = given.number(spec.name);
            else if constexpr (std::is_same_v<Value, bool>)
                settings.*at = given.flag(spec.name);
            else
                settings.*at = static_cast<Value>(given.choice(spec.name));
        };
        std::visit(assign, member);
    }
};

/// A kind whose optimizers have the class Kind: adds the options, with the values of `defaults`,
/// and the factory.
template <typename Kind, typename Settings>
OptimizerDescriptor with_options(OptimizerDescriptor kind, const Settings& defaults,
                                 std::vector<OptimizerOption<Settings>> options) {
    for (auto& option : options) {
        option.set_default(defaults);
        kind.options.push_back(option.spec);
    }
    kind.make = [defaults, all = std::move(options)](
                    const TypedOptions& given, std::vector<Parameter> parameters,
                    const OptimizerOptions& common) -> std::unique_ptr<Optimizer> {
        Settings settings = defaults;
        for (const auto& option : all) option.read(given, settings);
        return std::make_unique<Kind>(std::move(parameters), settings, common);
    };
    return kind;
}

}  // namespace engine
