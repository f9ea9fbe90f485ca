#pragma once

#include <QFormLayout>
#include <QScrollArea>
#include <QToolButton>
#include <QVBoxLayout>

#include "engine/settings/catalog.h"
#include "models/settings_checks.h"
#include "panels/settings/settings_field.h"
#include "view/context.h"

namespace ui {

class DataPreview;
class LintList;
class NextRunNote;
class PrecisionSection;

/// The settings of the next run, built from the engine's catalogs: a new data set, model or
/// optimizer shows here without a change.
class SettingsPanel final : public QScrollArea {
    Q_OBJECT
public:
    explicit SettingsPanel(const Context& context, QWidget* parent = nullptr);
    void chooseDataPath();
    /// Scrolls to the field and gives it the focus.
    void focusField(const QString& path);
    QSize minimumSizeHint() const override;

protected:
    bool eventFilter(QObject* watched, QEvent* event) override;

private:
    QVBoxLayout* section(const QString& title, QWidget* beside = nullptr);
    void row(QVBoxLayout* section, QWidget* label, std::vector<SettingsField*> fields,
             QWidget* beside = nullptr);
    SettingsField* edit(const QString& path, bool withUnit = true);
    QWidget* label(const QString& path, const QString& text = {});
    void addData();
    void addProminent(QVBoxLayout* rows, const QString& section);
    void addModel();
    void addPrecision();
    void addScaler();
    void addTraining();
    void addMore();
    void addFindings();
    void fillMore();
    void showMore(bool shown);
    void refresh();
    void refreshModels();
    void refreshTextOptions();
    void refreshTargets();
    void refreshPresets();
    void enableSearch();
    void lock();
    QToolButton* makeRateFinder();
    QString modelSummary() const;
    QString findings() const;

    Context context_;
    QVBoxLayout* column_;
    NextRunNote* note_ = nullptr;
    DataPreview* preview_ = nullptr;
    PrecisionSection* chips_ = nullptr;
    SettingsField* target_ = nullptr;
    QString targetsFor_;  ///< the data whose columns target_ lists
    std::vector<SettingsField*> columnFields_;  ///< that name columns of a table
    QStringList columns_;                       ///< that they offer
    LintList* lint_ = nullptr;
    SettingsField* model_ = nullptr;
    SettingsField* initScale_ = nullptr;
    SettingsField* single_ = nullptr;
    SettingsField* device_ = nullptr;
    QToolButton* open_ = nullptr;
    QToolButton* largest_ = nullptr;  ///< finds the largest batch
    QWidget* more_ = nullptr;         ///< all other settings
    QVBoxLayout* moreRows_ = nullptr;
    QLabel* modelNote_ = nullptr;
    std::vector<engine::FieldInfo> textOptions_;  ///< of the network's text, and their rows
    QWidget* modelOptions_ = nullptr;  ///< rows of the options of other models
    QVBoxLayout* textRows_ = nullptr;
    QWidget* textBox_ = nullptr;
    QLabel* classroom_ = nullptr;
    QLabel* findings_ = nullptr;
    QWidget* findingsBox_ = nullptr;
    QWidget* scalerBox_ = nullptr;
    std::vector<SettingsField*> fields_;
    std::vector<QLabel*> locks_;  ///< one a section, shown while training
    QString modelsFor_;
    QStringList lacking_;  ///< why each precision cannot be chosen, as listed
};

}  // namespace ui
