#pragma once

#include <QFormLayout>
#include <QScrollArea>
#include <QVBoxLayout>

#include "context.h"
#include "panels/settings_field.h"

namespace ui {

class DataPreview;

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
    void row(QVBoxLayout* section, QWidget* label, std::vector<QWidget*> editors);
    SettingsField* edit(const QString& path, bool withUnit = true);
    SettingsField* choose(const QString& path, std::vector<Choice> choices);
    QWidget* label(const QString& path, const QString& text = {});
    void addData();
    void addModel();
    void addPrecision();
    void addScaler();
    void addTraining();
    void addMore();
    void addFindings();
    void refresh();
    void lock();
    QString modelSummary() const;

    Context context_;
    QVBoxLayout* column_;
    DataPreview* preview_ = nullptr;
    SettingsField* model_ = nullptr;
    SettingsField* initScale_ = nullptr;
    QLabel* modelNote_ = nullptr;
    QLabel* classroom_ = nullptr;
    QLabel* findings_ = nullptr;
    QWidget* findingsBox_ = nullptr;
    QWidget* scalerBox_ = nullptr;
    std::vector<SettingsField*> fields_;
    std::vector<QLabel*> locks_;  ///< one a section, shown while training
    QString modelsFor_;
};

}  // namespace ui
