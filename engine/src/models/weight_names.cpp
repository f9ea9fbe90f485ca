#include "models/weight_names.h"

#include <algorithm>
#include <functional>
#include <map>
#include <string_view>
#include <utility>

#include "engine/base/error.h"

namespace engine {
namespace {

using Names = std::set<std::string>;

/// Prefixes that DataParallel, torch.compile and Lightning put before all names.
constexpr std::string_view wrappers[] = {"_orig_mod.", "module.", "_orig_mod.", "model."};
struct Renamed {
    std::string_view before, now;
};
constexpr Renamed old_endings[] = {{"LayerNorm.gamma", "LayerNorm.weight"},
                                   {"LayerNorm.beta", "LayerNorm.bias"},
                                   {"lm_head.decoder.weight", "lm_head.weight"}};
/// Buffers that a model makes itself, and counters of training and of profilers.
constexpr std::string_view buffers[] = {"position_ids",     "token_type_ids", "attn.bias",
                                        "attn.masked_bias", "n_averaged",     "total_ops",
                                        "total_params"};
/// Heads of BERT's pre-training that are not masked language modelling.
constexpr std::string_view other_heads[] = {"pooler.dense.weight", "pooler.dense.bias",
                                            "cls.seq_relationship.weight",
                                            "cls.seq_relationship.bias"};

/// Whether the name ends in these whole words between dots.
bool ends_in(std::string_view name, std::string_view words) {
    if (!name.ends_with(words)) return false;
    return name.size() == words.size() || name[name.size() - words.size() - 1] == '.';
}

template <std::size_t size>
bool ends_in_any(std::string_view name, const std::string_view (&list)[size]) {
    return std::any_of(std::begin(list), std::end(list),
                       [&](std::string_view words) { return ends_in(name, words); });
}

/// Names in newer versions of torchvision's detectors, whose layers stand in a Sequential of their
/// own: rpn.head.conv.weight, mask_head.mask_fcn1.bias.
std::vector<std::string> names_in_sequential(const std::string& name) {
    const std::size_t dot = name.rfind('.');
    if (dot == name.npos) return {};
    const std::string layer = name.substr(0, dot), last = name.substr(dot);
    std::vector<std::string> out{layer + ".0" + last, layer + ".0.0" + last};
    constexpr std::string_view numbered = "mask_fcn";
    const std::size_t number = layer.size() - 1, at = number - numbered.size();
    if (layer.size() > numbered.size() && layer.substr(at, numbered.size()) == numbered &&
        layer[number] >= '1' && layer[number] <= '9')
        out.push_back(layer.substr(0, at) + static_cast<char>(layer[number] - 1) + ".0" + last);
    return out;
}

/// Calls f(prefix, rest) for each way to part the name behind a dot.
template <typename F>
void for_each_prefix(const std::string& name, const F& f) {
    for (std::size_t dot = name.find('.'); dot != std::string::npos; dot = name.find('.', dot + 1))
        f(name.substr(0, dot + 1), name.substr(dot + 1));
}

/// A prefix to take off the file's names, or to put before them.
struct PrefixChange {
    std::string prefix;
    bool added = false;

    /// Names that the model has stay as they are.
    std::string of(const std::string& name, const Names& model) const {
        if (prefix.empty() || model.contains(name)) return name;
        if (added) return prefix + name;
        return name.starts_with(prefix) ? name.substr(prefix.size()) : name;
    }
};

class Fitting {
public:
    Fitting(const Names& model, const std::string& path, TensorMap& file)
        : model_(model), path_(path), file_(file) {}

    NameFit fit(const std::string& wanted) {
        modernise();
        if (!wanted.empty()) take(wanted);
        unwrap();
        change_prefix();
        drop_unused();
        return std::move(out_);
    }

private:
    /// Names anew; of two that become one, the one with the model's own name stays.
    template <typename F>
    void rename(const F& name_of) {
        TensorMap renamed;
        for (auto& [name, tensor] : file_) {
            const std::string now = name_of(name);
            if (now == name)
                renamed.insert_or_assign(now, tensor);
            else
                renamed.try_emplace(now, tensor);
        }
        file_ = std::move(renamed);
    }

    void modernise() {
        rename([&](const std::string& name) {
            for (const Renamed& each : old_endings) {
                if (model_.contains(name) || !ends_in(name, each.before)) continue;
                return name.substr(0, name.size() - each.before.size()) + std::string(each.now);
            }
            if (!model_.contains(name))
                for (const std::string& now : names_in_sequential(name))
                    if (model_.contains(now)) return now;
            return name;
        });
    }

    /// Keeps what is under the prefix that the settings name.
    void take(const std::string& wanted) {
        const std::string prefix = wanted.ends_with('.') ? wanted : wanted + ".";
        TensorMap kept;
        for (auto& [name, tensor] : file_)
            if (name.starts_with(prefix)) kept.emplace(name.substr(prefix.size()), tensor);
        if (kept.empty())
            throw Error(ErrorCode::data,
                        msg("{}: holds nothing under {}: its names begin with {}", path_, wanted,
                            beginnings()),
                        msg("Set model.init_key to a key or a prefix of the file, or leave it "
                            "empty."));
        file_ = std::move(kept);
    }

    std::string beginnings() const {
        constexpr std::size_t max_listed = 5;
        Names first;
        for (const auto& [name, tensor] : file_) first.insert(name.substr(0, name.find('.')));
        std::string out;
        std::size_t count = 0;
        for (const std::string& each : first)
            if (++count <= max_listed) out += (out.empty() ? "" : ", ") + each;
        return out + (count > max_listed ? ", ..." : "");
    }

    void unwrap() {
        for (const std::string_view wrapper : wrappers) {
            const bool of_model = std::ranges::any_of(
                model_, [&](const std::string& name) { return name.starts_with(wrapper); });
            const bool of_all = std::ranges::all_of(file_, [&](const auto& item) {
                return item.second.shape().rank() == 0 || item.first.starts_with(wrapper);
            });
            if (of_model || !of_all) continue;
            rename([&](const std::string& name) {
                return name.starts_with(wrapper) ? name.substr(wrapper.size()) : name;
            });
        }
    }

    /// How many of the model's names the change gives.
    std::size_t covered(const PrefixChange& change) const {
        Names names;
        for (const auto& [name, tensor] : file_) {
            const std::string now = change.of(name, model_);
            if (model_.contains(now)) names.insert(now);
        }
        return names.size();
    }

    std::vector<PrefixChange> changes() const {
        std::map<std::string, std::size_t> more, fewer;  // and how many names each explains
        for (const auto& [name, tensor] : file_)
            for_each_prefix(name, [&](const std::string& prefix, const std::string& rest) {
                if (model_.contains(rest)) ++fewer[prefix];
            });
        for (const std::string& name : model_)
            for_each_prefix(name, [&](const std::string& prefix, const std::string& rest) {
                if (file_.contains(rest)) ++more[prefix];
            });
        std::vector<std::pair<std::size_t, PrefixChange>> counted;
        for (const auto& [prefix, count] : fewer) counted.push_back({count, {prefix, false}});
        for (const auto& [prefix, count] : more) counted.push_back({count, {prefix, true}});
        std::ranges::stable_sort(counted, std::greater<>(),
                                 [](const auto& each) { return each.first; });
        // Each is tried on the whole file, which may be made to have a prefix a name.
        constexpr std::size_t max_tried = 32;
        std::vector<PrefixChange> out;
        for (std::size_t i = 0; i < std::min(counted.size(), max_tried); ++i)
            out.push_back(std::move(counted[i].second));
        return out;
    }

    void change_prefix() {
        // A change must explain most of the model, or it would make the errors harder to read.
        std::size_t most = std::max(covered({}), model_.size() / 2);
        std::vector<PrefixChange> best;
        for (PrefixChange& change : changes()) {
            const std::size_t count = covered(change);
            if (count > most) best.clear();
            if (count > most || (count == most && !best.empty())) best.push_back(std::move(change));
            most = std::max(most, count);
        }
        if (best.empty()) return;
        if (best.size() > 1) refuse_several(best);
        const PrefixChange& change = best.front();
        if (change.added)
            out_.added = change.prefix;
        else
            leave_out_unprefixed(change.prefix);
        rename([&](const std::string& name) { return change.of(name, model_); });
    }

    [[noreturn]] void refuse_several(const std::vector<PrefixChange>& best) const {
        std::string list;
        for (const PrefixChange& each : best) {
            const std::string prefix = each.prefix.substr(0, each.prefix.size() - 1);
            list += (list.empty() ? "" : ", ") + prefix;
        }
        throw Error(ErrorCode::data,
                    msg("{}: holds several models that fit, under the prefixes {}", path_, list),
                    msg("Set model.init_key to the one to start from."));
    }

    void leave_out_unprefixed(const std::string& prefix) {
        std::erase_if(file_, [&](const auto& item) {
            const auto& [name, tensor] = item;
            if (name.starts_with(prefix) || model_.contains(name)) return false;
            note_left_out(name, tensor);
            return true;
        });
    }

    void drop_unused() {
        std::erase_if(file_, [&](const auto& item) {
            const auto& [name, tensor] = item;
            if (model_.contains(name)) return false;
            const bool head = ends_in_any(name, other_heads);
            // Frozen norms do not count batches.
            if (name.ends_with(".num_batches_tracked")) return true;
            if (head) note_left_out(name, tensor);
            return head || ends_in_any(name, buffers);
        });
    }

    void note_left_out(const std::string& name, const Tensor& tensor) {
        if (tensor.shape().rank() > 0 && !ends_in_any(name, buffers)) out_.left_out.push_back(name);
    }

    const Names& model_;
    const std::string& path_;
    TensorMap& file_;
    NameFit out_;
};

}  // namespace

NameFit fit_names(const std::set<std::string>& model, const std::string& path,
                  const std::string& wanted, TensorMap& file) {
    return Fitting(model, path, file).fit(wanted);
}

}  // namespace engine
