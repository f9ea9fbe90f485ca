#pragma once

#include <memory>
#include <span>
#include <string_view>
#include <vector>

#include "engine/runs/run_fields.h"

namespace engine {

/// A filter over runs, such as `precision=amp-fp16 lr>0.01 tag:sweep -starred resnet`. All terms
/// must hold; a leading dash negates a term.
///
/// - A word is searched in name, tags, notes, model, data set and precision; a number in name, tags
///   and notes. A run's id must be the whole word.
/// - `FIELD OP VALUE`, without spaces. FIELD is a field of run_fields(), or the end of its path if
///   that is unique (`lr` for `optimizer.lr`); a section stands for its kind or preset (`model`).
///   OP is = != < <= > >= or ~ (contains); : means a whole tag for tags, else =.
/// - `starred` alone is `starred=true`.
/// - Quotes keep spaces and operators: title="first try". \" is a quote within them.
///
/// Case is ignored. A date is compared as far as it is given: started>=2026-11. A comparison with
/// an unknown value is false, so its negation is true.
class RunQuery {
public:
    /// Holds for every run.
    RunQuery();
    /// Throws Error(settings) that names the word and what is allowed. `fields` are those of
    /// run_fields(), with the metrics of the runs at hand.
    RunQuery(std::string_view text, std::span<const RunField> fields);
    RunQuery(RunQuery&&) noexcept;
    RunQuery& operator=(RunQuery&&) noexcept;
    ~RunQuery();

    bool matches(const RunSummary& run) const;
    bool empty() const { return terms_.empty(); }

    struct Term;

private:
    std::vector<std::unique_ptr<const Term>> terms_;
};

/// The field that a name stands for in a filter. Throws Error(settings) for an unknown one and,
/// with the candidates, for an ambiguous one.
const RunField& resolve_field(std::string_view name, std::span<const RunField> fields);

/// The single tags of "a, b".
std::vector<std::string> split_tags(std::string_view tags);

}  // namespace engine
