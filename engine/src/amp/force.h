#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "tensor/dtype.h"

namespace engine {

/// One key of precision.force.
struct ForceRule {
    std::string key;     ///< as given
    std::string module;  ///< full name; "": any
    std::string op;      ///< OpInfo::name; "": any
    DType type;          ///< f32, f16 or bf16
};

/// The rules of precision.force, looked up for each call. Immutable.
class ForceRules : public std::enable_shared_from_this<ForceRules> {
public:
    explicit ForceRules(std::vector<ForceRule> rules);

    /// The rule that applies to an operation in a module. A rule for a module comes first: of those
    /// whose module is this one or contains it, the one with the longest name. Then a rule for the
    /// operation. Null: no rule applies.
    const ForceRule* find(std::string_view module, std::string_view op) const;
    const std::vector<ForceRule>& rules() const { return rules_; }

private:
    std::vector<ForceRule> rules_;  // the most specific first
};

/// Forces types on this thread while it lives; inside it NoAutocast and backward passes suspend
/// them. Null rules: none.
class [[nodiscard]] ForceScope {
public:
    explicit ForceScope(std::shared_ptr<const ForceRules> rules) noexcept;
    ~ForceScope();
    ForceScope(const ForceScope&) = delete;
    ForceScope& operator=(const ForceScope&) = delete;

private:
    std::shared_ptr<const ForceRules> rules_;
    const ForceRules* before_;
};

}  // namespace engine
