#pragma once

#include <QObject>
#include <filesystem>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "engine/record/twin.h"
#include "text/language.h"
#include "twin/gap_noise.h"
#include "view/context.h"

namespace ui {

class RunTrack;

/// A twin on screen: its two runs and how far their gradients are apart, by layer and step. The one
/// place of the page that reads files. GUI thread.
class TwinModel final : public QObject {
    Q_OBJECT
public:
    explicit TwinModel(const Context& context, QObject* parent = nullptr);
    ~TwinModel() override;

    /// Whether a comparison is on show.
    bool any() const { return reader_.has_value() && steps() > 0; }
    /// Why there is none.
    QString emptiness() const;
    /// Says what is missing to show both losses; empty: nothing.
    QString lossMissing() const;
    const std::shared_ptr<RunTrack>& reference() const { return reference_; }
    const std::shared_ptr<RunTrack>& other() const { return other_; }
    /// Whether it is training, so that a resync can be requested.
    bool live() const;

    const engine::TwinDigest& digest() const { return *digest_; }
    std::size_t layers() const { return layers_; }
    std::int64_t steps() const;
    /// Error and angle of a layer in step i + 1; NaN where it was skipped.
    float error(std::size_t layer, std::int64_t i) const;
    float angle(std::size_t layer, std::int64_t i) const;
    /// Values of all layers in step i + 1: relative errors, or angles.
    std::span<const float> stepValues(std::int64_t i, bool angle) const;
    bool skipped(std::int64_t i) const { return skipped_[static_cast<std::size_t>(i)] != 0; }
    /// Steps at whose end the state was copied over.
    const std::vector<std::int64_t>& resyncs() const { return resyncs_; }
    /// Loss gaps by step of pairs of runs in the history with the same settings and other seeds;
    /// read in the background.
    const std::vector<std::vector<double>>& siblingGaps() const { return siblings_; }
    /// Index of the step that is selected on all pages, or the newest.
    std::int64_t current() const;

    /// Index of the selected layer, or of the one that is furthest off.
    std::size_t selected() const;
    void select(std::size_t layer);
    QString name(std::size_t layer) const;

signals:
    /// Other runs are on show.
    void contentChanged();
    void grew();
    void selectionChanged();
    /// siblingGaps() has others.
    void siblingsChanged();

private:
    void refresh();
    void find();
    /// Takes the reference if it is on screen; whether it is.
    bool findReference();
    bool grow();
    void findSiblings();

    Context context_;
    std::shared_ptr<RunTrack> reference_, other_;
    std::optional<engine::TwinRecordReader> reader_;
    std::optional<engine::TwinDigest> digest_;
    Failure problem_;
    std::filesystem::path folder_;
    std::size_t layers_ = 1;
    std::vector<float> errors_, angles_;  ///< step by step, layer by layer
    std::vector<std::uint8_t> skipped_;   ///< by step
    std::vector<std::int64_t> resyncs_;
    std::vector<SeedPair> pairs_;  ///< of siblings_
    std::vector<std::vector<double>> siblings_;
};

}  // namespace ui
