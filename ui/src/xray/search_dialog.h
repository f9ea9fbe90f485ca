#pragma once

#include <QDialog>

#include "text/format.h"
#include "view/context.h"
#include "xray/search_job.h"

class QComboBox;
class QLabel;
class QProgressBar;
class QPushButton;
class QTreeWidget;

namespace ui {

class XrayModel;

/// Finds the smallest set of operations that must stay in FP32: asks for the tolerance, shows the
/// trials while they run, then the set with its evidence, which can be kept for the run. Closing
/// ends the search; made anew in another language, the dialog shows the same one. GUI thread.
class SearchDialog final : public QDialog {
    Q_OBJECT
public:
    SearchDialog(const Context& context, XrayModel* model, QWidget* parent = nullptr);

    SearchJob* job() const { return job_; }

private:
    QWidget* makeQuestion();
    QWidget* makeTrials();
    QWidget* makeFoot();
    void start();
    void showAsked();
    void sayStart();
    void sayStopping();
    void showProgress();
    void showEnd();
    QString resultText() const;
    QString evidenceText() const;
    void refreshButtons();

    Context context_;
    XrayModel* model_;
    SearchJob* job_;
    QComboBox* tolerance_ = nullptr;
    QComboBox* confirm_ = nullptr;
    QTreeWidget* trials_ = nullptr;
    QProgressBar* progress_ = nullptr;
    TimeLeft left_;
    QLabel* result_ = nullptr;
    QLabel* evidence_ = nullptr;
    QPushButton* search_ = nullptr;
    QPushButton* cancel_ = nullptr;
    QPushButton* keep_ = nullptr;
    QPushButton* open_ = nullptr;
};

}  // namespace ui
