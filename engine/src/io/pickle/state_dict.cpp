#include "io/pickle/state_dict.h"

#include <algorithm>
#include <set>

#include "engine/base/error.h"

namespace engine {
namespace {

constexpr std::string_view usual_keys[] = {"state_dict", "model_state_dict", "model"};
constexpr std::size_t max_listed = 10;
constexpr char whole_value[] = ".";
// Names may be shared within a pickle, so that a small file could fill the memory with copies.
constexpr std::size_t max_name_size = 256, max_key_size = 256, max_tensors = 1 << 20;

/// Whether a key holds state of the training and not of a model: optimizer, optimizer_states, ...
bool is_of_training(const std::string& key) {
    return key.starts_with("optim") || key == "opt" || key == "callbacks" || key == "loops" ||
           key.starts_with("lr_sched") || key.starts_with("scheduler");
}

/// Goes through the dicts and lists of the file's value, as long as their keys are no longer than
/// any program makes them. Every value is visited once, so that a cycle ends.
class Search {
public:
    Search(const PickleValues& all, const TorchRules& rules) : all_(all), rules_(rules) {
        visit(all.root, "");
    }

    std::vector<StateDict> found;

private:
    struct Place {
        PickleRef value;
        std::string key;
    };

    void visit(PickleRef root, const std::string& at) {
        std::vector<Place> open{{root, at}};
        seen_.insert(root);
        while (!open.empty()) {
            const Place place = std::move(open.back());
            open.pop_back();
            if (place.key.size() > max_key_size) continue;
            std::vector<Place> inside;
            if (const auto* dict = all_.get<PickleDict>(place.value))
                inside = take_dict(*dict, place.key);
            else if (const auto* list = all_.get<PickleSequence>(place.value))
                inside = items_of(*list, place.key);
            open.insert(open.end(), inside.rbegin(), inside.rend());  // in their order
        }
    }

    static std::string below(const std::string& key, const std::string& name) {
        return key.empty() ? name : key + "." + name;
    }

    /// Keeps the dict's tensors, if any, and returns what to look into.
    std::vector<Place> take_dict(const PickleDict& dict, const std::string& key) {
        StateDict here{key.empty() ? whole_value : key};
        std::map<std::string, PickleRef> inner;
        std::vector<std::string> order;
        for (const auto& [name_ref, value] : dict.items) {
            const auto* name = all_.get<std::string>(name_ref);
            // An optimizer's state is by number.
            if (name == nullptr || name->size() > max_name_size) continue;
            here.tensors.erase(*name);  // a later entry replaces an earlier one
            inner.erase(*name);
            if (const TorchTensor* tensor = rules_.tensor(all_[value])) {
                here.tensors[*name] = tensor;
                if (++tensors_ > max_tensors) fail(msg("it has too many values"));
            } else if (is_container(value) && !is_of_training(*name)) {
                inner[*name] = value;
                order.push_back(*name);
            }
        }
        if (!here.tensors.empty()) found.push_back(std::move(here));
        std::vector<Place> out;
        for (const std::string& name : order)
            if (const auto it = inner.find(name);
                it != inner.end() && seen_.insert(it->second).second)
                out.push_back({it->second, below(key, name)});
        return out;
    }

    std::vector<Place> items_of(const PickleSequence& list, const std::string& key) {
        std::vector<Place> out;
        for (std::size_t i = 0; i < list.items.size(); ++i)
            if (is_container(list.items[i]) && seen_.insert(list.items[i]).second)
                out.push_back({list.items[i], below(key, std::to_string(i))});
        return out;
    }

    bool is_container(PickleRef value) const {
        return all_.get<PickleDict>(value) != nullptr || all_.get<PickleSequence>(value) != nullptr;
    }

    const PickleValues& all_;
    const TorchRules& rules_;
    std::set<PickleRef> seen_;
    std::size_t tensors_ = 0;
};

/// Whether it can be a model's weights. A best accuracy or a random generator's state beside them
/// is a tensor, too.
bool holds_weights(const StateDict& dict, const TorchRules& rules) {
    return std::ranges::any_of(dict.tensors, [&](const auto& item) {
        const TorchTensor& tensor = *item.second;
        return !tensor.shape.empty() && is_floating(rules.storages()[tensor.storage].number.dtype);
    });
}

/// Class weights or an input's mean beside a dict of weights have no module in their names.
bool names_modules(const StateDict& dict) {
    return std::ranges::any_of(
        dict.tensors, [](const auto& item) { return item.first.find('.') != std::string::npos; });
}

std::string listed(const std::vector<StateDict>& dicts) {
    std::string out;
    for (std::size_t i = 0; i < std::min(dicts.size(), max_listed); ++i)
        out += (i == 0 ? "" : ", ") + shown_name(dicts[i].key);
    return out + (dicts.size() > max_listed ? ", ..." : "");
}

[[noreturn]] void refuse_value(const PickleValues& all) {
    const PickleValue& value = all[all.root];
    if (const auto* other = std::get_if<PickleOther>(&value); other && !other->global.empty())
        fail(msg("it holds an object of {}, not a dict of tensors", shown_name(other->global)));
    const bool may_hold =
        std::holds_alternative<PickleDict>(value) || std::holds_alternative<PickleSequence>(value);
    if (!may_hold) fail(msg("its value is not a dict of tensors"));
    fail(msg("it holds no tensors"));
}

}  // namespace

StateDict find_state_dict(const PickleValues& all, const TorchRules& rules,
                          const std::string& wanted) {
    std::vector<StateDict> found = std::move(Search(all, rules).found);
    if (found.empty()) refuse_value(all);
    const auto under = [&](std::string_view key) {
        return std::ranges::find(found, key, &StateDict::key);
    };
    if (const auto asked = under(wanted); asked != found.end()) return std::move(*asked);
    if (std::ranges::any_of(found,
                            [&](const StateDict& each) { return holds_weights(each, rules); }))
        std::erase_if(found, [&](const StateDict& each) { return !holds_weights(each, rules); });
    if (found.size() > 1 && found.front().key == whole_value && !names_modules(found.front()))
        found.erase(found.begin());
    if (found.size() == 1) return std::move(found.front());
    for (const std::string_view key : usual_keys) {
        const auto usual = under(key);
        if (usual == found.end()) continue;
        StateDict out = std::move(*usual);
        found.erase(usual);
        for (const StateDict& each : found) out.others.push_back(each.key);
        return out;
    }
    throw PickleFault{msg("it holds several dicts of tensors: {}", listed(found)),
                      msg("Set model.init_key to the one to start from.")};
}

}  // namespace engine
