#include "models/lint_check.h"

#include <algorithm>
#include <string>
#include <utility>

#include "feed/background.h"
#include "models/settings_model.h"

namespace ui {

engine::DatasetPreview sizesOf(const engine::DatasetPreview& data) {
    engine::DatasetPreview sizes;
    sizes.train_samples = data.train_samples;
    if (data.text) sizes.text.emplace();
    sizes.schema = data.schema;
    return sizes;
}

LintCheck::LintCheck(SettingsModel* settings, QObject* parent)
    : QObject(parent), settings_(settings) {
    connect(settings_, &SettingsModel::changed, this, &LintCheck::check);
    check();
}

void LintCheck::setCards(std::size_t cards) {
    if (cards == cards_) return;
    cards_ = cards;
    check();
}

void LintCheck::setMeasured(const engine::RunConfig& config,
                            std::vector<engine::LintFinding> findings) {
    measured_ = std::move(findings);
    measuredOf_ = engine::to_json(config);
    check();
}

void LintCheck::fix(const engine::LintFinding& finding) {
    const auto changed = engine::with_fix(settings_->config(), finding);
    if (changed.errors.empty()) settings_->load(changed.config, {}, changed.notes);
}

void LintCheck::check() {
    if (checking_) {
        again_ = true;
        return;
    }
    if (!settings_->errors().empty()) return take({});
    checking_ = true;
    std::optional<engine::DatasetPreview> data;
    if (settings_->data() != nullptr) data = sizesOf(*settings_->data());
    inBackground(
        this,
        [config = settings_->config(), data = std::move(data), cards = cards_] {
            return engine::lint(config, {.data = data ? &*data : nullptr,
                                         .gpu = engine::runs_on_gpu(config, cards)});
        },
        [this](std::vector<engine::LintFinding> findings) {
            checking_ = false;
            if (std::exchange(again_, false)) return check();
            take(std::move(findings));
        });
}

void LintCheck::take(std::vector<engine::LintFinding> findings) {
    if (!measured_.empty() && engine::to_json(settings_->config()) == measuredOf_) {
        // Measured findings take the place of those that the settings alone made likely.
        const std::string known = "static-scale-too-large";
        if (std::ranges::find(measured_, known, &engine::LintFinding::id) != measured_.end())
            std::erase_if(findings, [](const engine::LintFinding& finding) {
                return finding.id == "static-scale-beyond-usual";
            });
        findings.insert(findings.begin(), measured_.begin(), measured_.end());
        std::ranges::stable_sort(findings, std::ranges::greater{}, &engine::LintFinding::severity);
    }
    const auto same = [](const engine::LintFinding& a, const engine::LintFinding& b) {
        return a.id == b.id && a.fix == b.fix && a.sentence.str() == b.sentence.str();
    };
    if (std::ranges::equal(findings, findings_, same)) return;
    findings_ = std::move(findings);
    emit findingsChanged();
}

}  // namespace ui
