

def number(value):
    return value if math.isfinite(value) else str(value)


class Step:
    """The tensors of the step by their numbers in the program."""

    def __init__(self, tensors, description, trace):
        self.trace, self.values, self.weights = trace, {}, {}
        self.masks = Masks(description["config"]["seed"], int(description["counts"]["steps"]))
        # A recurrent model's state begins anew with each pass over the data.
        begins = description["batches"][0]["index_in_epoch"] == 0
        for key, source in PROGRAM["tensors"].items():
            name, shape, dtype = source.get("name", ""), source["shape"], DTYPES[source["dtype"].upper()]
            if "values" in source:
                tensor = torch.tensor(source["values"], dtype=torch.float64).reshape(shape)
            elif name.startswith("carried/") and (begins or name not in tensors):
                tensor = torch.zeros(shape)
            else:
                tensor = tensors[name]
            if list(tensor.shape) != shape:  # pictures lie as N, H, W, C
                tensor = tensor.permute(0, 3, 1, 2)
            if name.startswith("batch/") and tensor.is_floating_point():
                trace.see("batch", "", name.rpartition("/")[2], tensor)
            self.values[int(key)] = tensor = tensor.to(DEVICE, dtype)
            if source.get("trained"):
                name = name.removeprefix("weights/")
                self.weights[name] = tensor.requires_grad_()
                trace.watch_weight(name, tensor)

    def call(self, op, module, inputs, attributes, outputs):
        given = [self.values[each] for each in inputs]
        self.trace.enter(module, op, given)
        types = {each.dtype for each in given if each.is_floating_point()}
        if op not in ROUND_INSIDE:
            given = [each.float() if each.dtype in LOW else each for each in given]
        attributes = [self.values[each["tensor"]] if isinstance(each, dict) else each for each in attributes]
        out = OPS[op](self.masks, *given, *attributes)
        out = out if isinstance(out, tuple) else (out,)
        for (key, dtype), tensor in zip(outputs, out):
            if op not in WIDE and len(types) == 1 and types <= LOW:  # also where a forced type's result is widened again
                tensor = tensor.to(*types)
            self.values[key] = tensor.to(DTYPES[dtype.upper()])
            self.trace.see("forward", module, op, self.values[key].detach(), self.trace.calls)


def drop_unused():
    """Leaves the calls that the losses depend on."""
    needed = {batch["loss"] for batch in PROGRAM["batches"]}
    for batch in reversed(PROGRAM["batches"]):
        used = []
        for call in reversed(batch["calls"]):
            if needed & {key for key, _ in call[4]}:
                used.append(call)
                needed.update(call[2], (each["tensor"] for each in call[3] if isinstance(each, dict)))
        batch["calls"] = used[::-1]


def compute(tensors, description, trace):
    """Trains the step up to its gradients. Returns the weights and the loss."""
    step, losses = Step(tensors, description, trace), []
    drop_unused()
    for batch in PROGRAM["batches"]:
        for call in batch["calls"]:
            step.call(*call)
        loss = step.values[batch["loss"]]
        losses.append(loss.item() * batch["weight"])
        (loss * batch["weight"] * SCALE).backward()
    return step.weights, sum(losses)


def main():
    path = CAPSULE if os.path.isabs(CAPSULE) else os.path.join(os.path.dirname(os.path.abspath(__file__)), CAPSULE)
    tensors, description = read_capsule(path)
    trace = Trace()
    weights, loss = compute(tensors, description, trace)
    bad = [name for name, tensor in tensors.items()
           if name.startswith("weights/") and tensor.is_floating_point() and not tensor.isfinite().all()]
    batch = next((each for each in trace.found if each["stage"] == "batch"), None)
    first = {"stage": "state", "name": bad[0].removeprefix("weights/")} if bad else batch or trace.first(loss)
    norms = {name: number(weight.grad.double().norm().item()) for name, weight in weights.items()
             if weight.grad is not None}
    print(json.dumps({"torch": torch.__version__, "device": DEVICE, "loss": number(loss), "loss_scale": SCALE,
                      "first": first, "norms": norms}))


if __name__ == "__main__":
    sys.exit(main())
