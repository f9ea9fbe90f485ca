#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace engine::network {

/// Names of a body. The newest meaning of a name counts; a module that runs again sees those that
/// counted when it was made, so each has its time.
template <typename T>
class Scope {
public:
    /// Sees the names that `parent` has up to the time `until`.
    Scope(std::shared_ptr<const Scope> parent, int until) : parent_(std::move(parent)), until_(until) {}

    void set(const std::string& name, T value, int time) { names_[name].push_back({time, std::move(value)}); }
    /// A line could not be read, so that there may be names which nobody knows.
    void set_incomplete() { incomplete_ = true; }

    /// Null: there is no such name.
    const T* find(const std::string& name, int until) const {
        if (const T* own = find_own(name, until)) return own;
        return parent_ ? parent_->find(name, until_) : nullptr;
    }
    const T* find_own(const std::string& name, int until) const {
        const auto found = names_.find(name);
        if (found == names_.end()) return nullptr;
        for (auto entry = found->second.rbegin(); entry != found->second.rend(); ++entry)
            if (entry->time <= until) return &entry->value;
        return nullptr;
    }
    bool is_incomplete() const { return incomplete_ || (parent_ && parent_->is_incomplete()); }
    void add_names(std::vector<std::string>& out) const {
        for (const auto& name : names_) out.push_back(name.first);
        if (parent_) parent_->add_names(out);
    }

private:
    struct Entry {
        int time;
        T value;
    };
    std::shared_ptr<const Scope> parent_;
    int until_;
    bool incomplete_ = false;
    std::unordered_map<std::string, std::vector<Entry>> names_;
};

}  // namespace engine::network
