

class Trace:
    """Non-finite tensors in the order in which they come up, operation by operation: outputs, then gradients of inputs."""

    def __init__(self):
        self.found, self.calls = [], 0

    def see(self, stage, module, name, tensor, call=-1, index=0):
        bad = ~torch.isfinite(tensor)
        if not bad.any():
            return
        place = bad.nonzero()[0].tolist()
        self.found.append({"stage": stage, "module": module, "name": name, "call": call, "index_of_input": index,
                           "dtype": str(tensor.dtype).removeprefix("torch."), "shape": list(tensor.shape),
                           "bad": int(bad.sum()), "index": place, "value": str(tensor[tuple(place)].item())})

    def enter(self, module, op, inputs):
        self.calls += 1
        for index, tensor in enumerate(inputs):
            if tensor.requires_grad:
                self.watch(tensor, module, op, index)

    def watch(self, tensor, module, op, index):
        call = self.calls
        if not tensor.is_leaf:
            tensor.register_hook(lambda g: self.see("backward", module, op + "_backward", g, call, index))

    def watch_weight(self, name, parameter):
        module = name.rpartition(".")[0]
        parameter.register_hook(lambda g: self.see("backward", module, name + ".grad", g))

    def first(self, loss):
        """First non-finite tensor: of the forward pass only if it reaches the loss; of one operation's gradients the
        first input's."""
        stage = "forward" if not math.isfinite(loss) else "backward"
        found = [each for each in self.found if each["stage"] == stage]
        if not found:
            return None
        same = [each for each in found if each["call"] == found[0]["call"] and each["call"] >= 0]
        return min(same, key=lambda each: each["index_of_input"]) if same else found[0]
