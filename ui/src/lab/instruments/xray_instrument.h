#pragma once

#include <QGridLayout>
#include <map>

#include "engine/instruments/xray.h"
#include "lab/instruments/instrument.h"

namespace ui {

/// The operations of the first step: the types that each reads, computes in and writes, and the
/// rule that decided. Traced off the window's thread once the runs have begun.
class XrayInstrument final : public Instrument {
    Q_OBJECT
public:
    XrayInstrument(const Context& context, LessonModel* model,
                   const engine::LessonInstrument& instrument, QWidget* parent = nullptr);
    QString title() const override;
    QString note() const override;
    void showStep(std::int64_t step) override;

private:
    struct Traced {
        engine::Xray xray;
        engine::Message problem;
    };
    void trace(const std::string& run, const engine::RunConfig& config);
    void show();
    void addRun(const std::string& run, const Traced& traced);
    void addOp(const engine::XrayOp& op);
    bool wanted(const engine::XrayOp& op) const;

    Context context_;
    LessonModel* model_;
    engine::LessonInstrument instrument_;
    std::vector<std::string> runs_;
    std::map<std::string, Traced> traced_;
    std::map<std::string, bool> asked_;
    QWidget* table_ = nullptr;
    QGridLayout* grid_ = nullptr;
};

}  // namespace ui
