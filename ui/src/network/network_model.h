#pragma once

#include <QObject>
#include <QStringList>
#include <QTextDocument>
#include <QTimer>
#include <map>
#include <memory>
#include <optional>
#include <set>

#include "engine/network/network.h"
#include "network/network_memory.h"
#include "network/network_rows.h"
#include "network/network_types.h"
#include "view/context.h"

namespace ui {

/// A text as it was checked, and what stands beside its lines.
struct NetworkView {
    QString text;
    engine::NetworkData data;
    engine::CheckedNetwork network;
    std::vector<NetworkLine> lines;
    NetworkTypes types;
    NetworkMemory memory;
    ChosenRuns chosen;
    NetworkRows rows;
};

/// The text of a network that is being written, and what the engine finds in it: it is checked off
/// the GUI thread a moment after the last key, the newest text only. GUI thread.
class NetworkModel final : public QObject {
    Q_OBJECT
public:
    explicit NetworkModel(const Context& context, QObject* parent = nullptr);

    QTextDocument* document() { return &document_; }
    QString text() const { return document_.toPlainText(); }
    /// Replaces the text; nothing before it can be undone.
    void setText(const QString& text);
    /// Replaces the text as one change that can be undone.
    void replaceText(const QString& text);
    /// The text cannot be changed: a template.
    bool isReadOnly() const { return readOnly_; }
    void setReadOnly(bool readOnly);

    /// The newest check.
    const NetworkView& now() const { return now_; }
    /// The last text without a fault: what the drawing shows.
    const NetworkView& good() const { return good_; }
    /// The drawing is that of an earlier text.
    bool isStale() const { return !now_.network.usable(); }
    /// The text has changed since its check.
    bool isChecking() const { return checking_ || wait_.isActive(); }
    /// Ends a check that is due or under way, at once.
    void checkNow();
    /// Faults that keep the text from being used.
    std::vector<engine::NetworkFault> faults() const;

    /// Sizes of the data: those that were set here, else those of the settings' data, else usual
    /// ones.
    engine::NetworkData data() const { return data_; }
    void setImage(std::vector<std::int64_t> sizes);
    void setOutputs(std::int64_t outputs);
    /// Sizes of a model that was read with its text.
    void setSizes(const engine::NetworkData& data);
    /// The settings' data set, where the sizes are those of its samples; empty: they are not.
    QString dataTitle() const { return dataTitle_; }
    void setOption(const std::string& name, const engine::OptionValue& value);
    void resetOption(const std::string& name);
    const engine::Options& options() const { return options_; }

    /// The preset whose types are predicted: the one that was set here, else that of the traced
    /// step, else the last one of the comparison.
    std::string preset() const;
    /// Empty: none is set.
    void setPreset(const std::string& preset);
    bool isPresetSet() const { return !preset_.empty(); }
    /// The settings, in the precision whose types are predicted.
    engine::RunConfig shownSettings() const;
    /// A traced step; without types, none was. Types are predicted for its preset again.
    void setMeasured(TracedStep step);
    /// The types of each row in it; empty: no step of this text was traced. A line that the traced
    /// text did not have is not in it.
    const std::vector<std::string>& measured() const { return measuredRows_; }
    /// The step ran without this line, from 1.
    bool isNewerThanTrace(int line) const { return newer_.contains(line); }
    /// The forced type of a key of precision.force in the settings; nothing: it is not forced.
    std::optional<engine::ForcedType> forced(const std::string& key) const;
    void force(const std::string& key, std::optional<engine::ForcedType> type);

    /// The text of the run on screen, whose network is a text too; nothing: there is none.
    void setRunText(std::optional<QStringList> lines, const QString& run);
    /// Lines, from 1, that differ from it.
    const std::set<int>& changed() const { return changed_; }
    /// The run on screen; empty: it has no text.
    QString comparedRun() const { return runText_ ? run_ : QString(); }

    /// Shows another run of the block or repeat at this line, from 1.
    void choose(int line, int run);
    /// Puts the fault's replacement into the text, as one change.
    void replace(const engine::NetworkFault& fault);
    /// Puts the notation of a print of PyTorch in its place, as one change, where it still stands at
    /// this position.
    void convertRepr(int position, const QString& print);
    /// Position of a place in the document; -1: the text no longer has it.
    int position(const engine::TextPlace& place) const;

signals:
    /// A check has ended, or another run is on show.
    void checked();
    /// Another text has taken the place of this one.
    void replaced();
    /// The text can be changed now, or no longer.
    void readOnlyChanged();

private:
    void check();
    void take(NetworkView view);
    engine::NetworkData readData(const std::string& text);
    std::optional<engine::NetworkData> dataOfSettings() const;
    void followSettings();
    engine::PrecisionConfig precision() const;
    /// The settings whose step's memory is predicted: those of the comparison, and behind them those
    /// of the precision whose types are predicted.
    std::vector<engine::RunConfig> steps() const;
    void findLimit();
    double limit() const;
    void compare();
    void matchMeasured();
    void checkSoon();

    QTextDocument document_;
    QTimer wait_;
    NetworkView now_, good_;
    engine::NetworkData data_;
    std::optional<std::vector<std::int64_t>> image_;
    std::optional<std::int64_t> outputs_;
    engine::Options options_;
    TracedStep traced_;
    std::vector<std::string> measuredRows_;
    std::set<int> newer_;  ///< lines that the traced step's text did not have
    std::string preset_;
    double machineLimit_ = 0, cardLimit_ = 0;  ///< bytes; 0: not known
    std::optional<QStringList> runText_;
    QString run_;
    std::set<int> changed_;
    SettingsModel* settings_;  ///< may be null
    QString samples_;          ///< key of the settings' data
    QString sizes_;            ///< all that the sizes depend on
    QString dataTitle_;
    bool readOnly_ = false, checking_ = false, again_ = false;
};

/// From the last key to the check.
inline constexpr int checkAfter = 30;  // ms

}  // namespace ui
