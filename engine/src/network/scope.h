#pragma once

#include <algorithm>
#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace engine::network {

/// Names of a body. The newest meaning of a name counts; a module that runs again sees those that
/// counted when it was made, so each has its time.
template <typename T>
class Scope : public std::enable_shared_from_this<Scope<T>> {
public:
    /// Sees the names that `parent` has up to the time `until`.
    Scope(std::shared_ptr<const Scope> parent, int until) : parent_(std::move(parent)), until_(until) {}

    void set(const std::string& name, T value, int time) { names_[name].push_back({time, std::move(value)}); }
    void forget() { names_.clear(); }
    /// A line could not be read, and names that it sets are missing here.
    void set_incomplete() { incomplete_ = true; }

    /// Null: there is no such name.
    const T* find(const std::string& name, int until) const {
        if (const T* own = find_own(name, until)) return own;
        return parent_ ? parent_->find(name, until_) : nullptr;
    }
    const T* find_own(const std::string& name, int until) const {
        const auto found = names_.find(name);
        if (found == names_.end()) return nullptr;
        const auto after = std::ranges::upper_bound(found->second, until, {}, &Entry::time);
        return after != found->second.begin() ? &std::prev(after)->value : nullptr;
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
