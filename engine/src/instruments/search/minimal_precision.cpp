#include "instruments/search/minimal_precision.h"

#include <algorithm>
#include <map>

#include "engine/base/error.h"

namespace engine {
namespace {

using Places = std::vector<OpPlace>;
/// Sets of places that are kept or released together: a module's operations, or a single one.
using Units = std::vector<Places>;

Places all_of(const Units& units) {
    Places out;
    for (const Places& unit : units) out.insert(out.end(), unit.begin(), unit.end());
    return out;
}

class Search {
public:
    Search(const Places& places, const PrecisionSearchOptions& options,
           const std::function<double(const ForcedTypes&)>& error_of, FoundPrecision& found)
        : places_(places), options_(options), error_of_(error_of), found_(found) {}

    /// Whether the step is accurate enough with these in FP32. Each set is tried once.
    bool passes(const Units& fp32) {
        const Places kept = all_of(fp32);
        PrecisionTrial trial;
        for (const OpPlace& each : kept) trial.fp32.push_back(each.key());
        std::ranges::sort(trial.fp32);
        if (const auto known = tried_.find(trial.fp32); known != tried_.end())
            return known->second <= found_.tolerance;
        trial.error = error_of_(all_fp16_but(places_, kept));
        trial.passed = trial.error <= found_.tolerance;
        tried_[trial.fp32] = trial.error;
        found_.trials.push_back(trial);
        if (options_.on_trial && !options_.on_trial(trial))
            throw Error(ErrorCode::state, msg("The search for a precision was stopped."));
        return trial.passed;
    }

    double error_of(std::vector<std::string> keys) const {
        std::ranges::sort(keys);
        return tried_.at(keys);
    }

private:
    const Places& places_;
    const PrecisionSearchOptions& options_;
    const std::function<double(const ForcedTypes&)>& error_of_;
    FoundPrecision& found_;
    std::map<std::vector<std::string>, double> tried_;
};

/// `parts` runs of nearly equal length.
std::vector<Units> split(const Units& units, std::size_t parts) {
    std::vector<Units> out;
    std::size_t from = 0;
    for (std::size_t i = 0; i < parts; ++i) {
        const std::size_t to = from + (units.size() - from) / (parts - i);
        out.emplace_back(units.begin() + static_cast<std::ptrdiff_t>(from),
                         units.begin() + static_cast<std::ptrdiff_t>(to));
        from = to;
    }
    return out;
}

Units without(const std::vector<Units>& chunks, std::size_t left_out) {
    Units out;
    for (std::size_t i = 0; i < chunks.size(); ++i) {
        if (i != left_out) out.insert(out.end(), chunks[i].begin(), chunks[i].end());
    }
    return out;
}

/// One round of ddmin: a chunk that is enough, or a chunk that can be left out. Nothing: neither.
std::optional<Units> smaller(Search& search, const std::vector<Units>& chunks) {
    for (const Units& chunk : chunks) {
        if (search.passes(chunk)) return chunk;
    }
    for (std::size_t i = 0; chunks.size() > 2 && i < chunks.size(); ++i) {
        if (Units rest = without(chunks, i); search.passes(rest)) return rest;
    }
    return std::nullopt;
}

/// Zeller and Hildebrandt's ddmin: a subset that passes and from which no unit can be left out.
Units ddmin(Search& search, Units units) {
    if (search.passes({})) return {};
    std::size_t parts = 2;
    while (units.size() >= 2) {
        parts = std::min(parts, units.size());
        const std::size_t before = units.size();
        if (auto less = smaller(search, split(units, parts))) {
            const bool is_chunk = less->size() <= (before + parts - 1) / parts;
            units = std::move(*less);
            parts = is_chunk ? 2 : std::max<std::size_t>(parts - 1, 2);
        } else if (parts < units.size()) {
            parts = std::min(2 * parts, units.size());
        } else {
            break;
        }
    }
    return units;
}

Units by_module(const Places& places) {
    Units out;
    for (const OpPlace& each : places) {
        const auto same = std::ranges::find_if(
            out, [&](const Places& unit) { return unit.front().module == each.module; });
        if (same == out.end())
            out.push_back({each});
        else
            same->push_back(each);
    }
    return out;
}

Units one_by_one(const Places& places) {
    Units out;
    for (const OpPlace& each : places) out.push_back({each});
    return out;
}

}  // namespace

ForcedTypes all_fp16_but(const std::vector<OpPlace>& places, const std::vector<OpPlace>& fp32) {
    ForcedTypes out;
    for (const OpPlace& each : places) {
        const std::string outermost = each.module.substr(0, each.module.find('.'));
        out[outermost.empty() ? each.key() : outermost] = ForcedType::fp16;
    }
    for (const OpPlace& each : fp32) out[each.key()] = ForcedType::fp32;
    return out;
}

FoundPrecision minimal_precision(const std::vector<OpPlace>& places,
                                 const PrecisionSearchOptions& options,
                                 const std::function<double(const ForcedTypes&)>& error_of) {
    FoundPrecision found;
    found.operations = static_cast<std::int64_t>(places.size());
    found.tolerance = options.tolerance.value_or(PrecisionSearchOptions::usual_tolerance);
    Search search(places, options, error_of, found);
    if (!search.passes(by_module(places))) {
        throw Error(ErrorCode::value,
                    msg("With every operation in FP32 the error of the gradients is {}, above the "
                        "tolerance of {}.",
                        found.trials.back().error, found.tolerance));
    }
    const Places modules = all_of(ddmin(search, by_module(places)));
    const Places fp32 = all_of(ddmin(search, one_by_one(modules)));
    for (const OpPlace& each : fp32) found.fp32.push_back(each.key());
    found.force = all_fp16_but(places, fp32);
    found.error = search.error_of(found.fp32);
    return found;
}

}  // namespace engine
