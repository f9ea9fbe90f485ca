#!/usr/bin/env bash
# run.sh HALFTONE: gives runs of the queue to a Slurm of two nodes on this machine and follows them (README.md). Exits with 77
# where that cannot be tried.
set -euo pipefail
halftone=$(realpath "${1:?usage: run.sh HALFTONE}")

skip() {
    echo "skipped: $*" >&2
    exit 77
}

[[ $halftone != /tmp/* ]] || skip "$halftone: each node has a /tmp of its own; give a program elsewhere"

if [[ -z ${CLUSTER_FOLDER:-} ]]; then
    [[ -z ${CI:-} ]] || skip "not in CI"
    export PATH=$PATH:/usr/sbin:/sbin
    for program in munged slurmctld slurmd sbatch squeue scancel sinfo unshare ip; do
        command -v "$program" > /dev/null || skip "there is no $program (packages slurm-wlm, munge, iproute2)"
    done
    apart=(unshare --net --uts --mount --pid --fork --kill-child --mount-proc)
    [[ $(id -u) == 0 ]] || apart=(unshare --map-root-user "${apart[@]:1}")
    "${apart[@]}" true 2> /dev/null || skip "namespaces are not permitted here"
    CLUSTER_FOLDER=$(mktemp -d /var/tmp/halftone-cluster-XXXXXX)
    export CLUSTER_FOLDER
    trap 'rm -rf "$CLUSTER_FOLDER"' EXIT
    "${apart[@]}" "$0" "$halftone"
    exit
fi

# From here on within the namespaces.
folder=$CLUSTER_FOLDER
shared=$folder/shared
mkdir -p "$folder"/{munge,state,spool,log} "$shared"
hostname login
ip link set lo up
# Slurm looks for an address beside 127.0.0.1; these are loopback's as well.
for number in 1 2 3; do ip address add 10.97.0.$number/32 dev lo; done
printf '127.0.0.1 localhost\n10.97.0.1 login\n10.97.0.2 node1\n10.97.0.3 node2\n' > "$folder/hosts"
mount --bind "$folder/hosts" /etc/hosts
export XDG_DATA_HOME=$shared/home/data XDG_CONFIG_HOME=$shared/home/config SLURM_CONF=$folder/slurm.conf
unset "${!SBATCH_@}" "${!SLURM_JOB@}" DISPLAY

fail() {
    echo "FAILED: $*"
    squeue --states=all || true
    tail -n 5 "$folder"/log/* "$shared"/jobs/*/slurm.out 2> /dev/null || true
    exit 1
}

# until_true SECONDS WHAT COMMAND...: tries the command until it succeeds.
until_true() {
    local deadline=$((SECONDS + $1)) what=$2
    shift 2
    until "$@"; do
        ((SECONDS < deadline)) || fail "$what has not come about"
        sleep 0.3
    done
}

start_cluster() {
    cat > "$SLURM_CONF" << CONF
ClusterName=halftone
SlurmctldHost=login(10.97.0.1)
SlurmUser=root
SlurmctldPort=16817
AuthType=auth/munge
AuthInfo=socket=$folder/munge/socket
CredType=cred/munge
StateSaveLocation=$folder/state
SlurmdSpoolDir=$folder/spool/%n
SlurmctldPidFile=$folder/slurmctld.pid
SlurmdPidFile=$folder/slurmd-%n.pid
SlurmctldLogFile=$folder/log/slurmctld
SlurmdLogFile=$folder/log/slurmd-%n
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
SchedulerType=sched/builtin
SelectType=select/cons_tres
SelectTypeParameters=CR_CPU
SlurmdParameters=config_overrides
AccountingStorageType=accounting_storage/none
JobAcctGatherType=jobacct_gather/none
MpiDefault=none
ReturnToService=2
KillWait=60
NodeName=node1 NodeAddr=10.97.0.2 Port=17001 CPUs=1
NodeName=node2 NodeAddr=10.97.0.3 Port=17002 CPUs=1
PartitionName=main Nodes=node1,node2 Default=YES MaxTime=INFINITE State=UP
CONF
    head -c 1024 /dev/urandom > "$folder/munge/key"
    chmod 400 "$folder/munge/key"
    munged --force --key-file="$folder/munge/key" --socket="$folder/munge/socket" --pid-file="$folder/munge/pid" \
        --log-file="$folder/log/munged" --seed-file="$folder/munge/seed"
    slurmctld -D > "$folder/log/slurmctld.out" 2>&1 &
    local node
    for node in node1 node2; do
        mkdir -p "$folder/spool/$node"
        unshare --uts --mount --pid --fork --kill-child --mount-proc bash -c \
            "hostname $node && mount -t tmpfs tmpfs /tmp && exec slurmd -D" > "$folder/log/$node.out" 2>&1 &
    done
    until_true 300 "two idle nodes" eval '[[ $(sinfo --noheader --Node --format=%T 2> /dev/null | grep -c idle) == 2 ]]'
    sinfo
}

queued() { "$halftone" queue --json | grep "\"id\":$1,"; }
# is ID STATE
is() { queued "$1" | grep "\"state\":\"$2\"" > /dev/null; }
run_of() { queued "$1" | sed -E 's/.*"run":"([^"]*)".*/\1/'; }
job_of() { queued "$1" | sed -E 's/.*"job":"([^"]*)".*/\1/'; }
node_of() { scontrol show job "$(job_of "$1")" | grep -oE '\bNodeList=node[12]'; }
note_of() { queued "$1" | sed -E 's/.*"note":"(.*)"\}$/\1/'; }
stored() { "$halftone" runs --json | grep "\"run\":\"$1\","; }
steps_of() { stored "$1" | sed -E 's/.*"steps":([0-9]+).*/\1/'; }
has_trained() { (($(steps_of "$1") > $2)); }

small=(--set dataset.kind=spirals --set model.kind=mlp --set batch_size=32 --set precision.preset=fp32 --set device=cpu
    --set threads=1)
# add SETTINGS...: sets `id`
add() {
    local line
    line=$("$halftone" queue add "${small[@]}" "$@" --where slurm --json)
    id=$(sed -E 's/.*"id":([0-9]+).*/\1/' <<< "$line")
}

start_cluster
"$halftone" queue script --folder "$shared/jobs" > "$folder/script" 2> /dev/null
grep -q '{{arguments}}' "$folder/script" || fail "the script is not shown"

echo "== Two runs train and end"
add --set max_steps=200 --set seed=1
first=$id
add --set max_steps=200 --set seed=2
second=$id
is "$first" waiting || fail "the run does not wait"
"$halftone" queue start
"$halftone" queue --follow || fail "a run has failed"
"$halftone" queue
for each in "$first" "$second"; do
    is "$each" "done" || fail "run $each of the queue is not done"
    stored "$(run_of "$each")" | grep '"state":"done","started".*"steps":200,' > /dev/null || fail "its run has no 200 steps"
done

echo "== A third one trains beside a fourth on the other node; it is cancelled, and saves a checkpoint"
add --set epochs=100000000 --set seed=3
"$halftone" queue start
until_true 300 "a run that trains" is "$id" running
until_true 300 "a run in the history" eval '[[ -n $(run_of "$id") ]]'
run=$(run_of "$id")
until_true 300 "its steps" has_trained "$run" 100
stored "$run" | grep -E '"host":"node[12]"' > /dev/null || fail "its node is not named"
third=$id
add --set max_steps=200 --set seed=4
"$halftone" queue start
until_true 300 "a run beside it" is "$id" "done"
[[ $(node_of "$id") != "$(node_of "$third")" ]] || fail "both runs were trained on one node"
id=$third
"$halftone" queue remove "$id" 2> "$folder/refused" && fail "a run that trains can be removed"
cat "$folder/refused"
"$halftone" queue cancel "$id"
until_true 300 "a cancelled job" is "$id" stopped
"$halftone" queue
[[ $(note_of "$id") == "The job was cancelled." ]] || fail "the note is: $(note_of "$id")"
stored "$run" | grep '"state":"stopped"' > /dev/null || fail "the run was cut off before it could save"
steps=$(steps_of "$run")

echo "== It goes on in another job, and is stopped from the login node"
"$halftone" queue again "$id"
"$halftone" queue start
until_true 300 "a run that trains again" is "$id" running
until_true 300 "more steps" has_trained "$run" $((steps + 100))
"$halftone" stop "$run"
until_true 300 "a stopped run" is "$id" stopped
note_of "$id"
(($(steps_of "$run") > steps)) || fail "it has begun anew"

echo "== A time limit: Slurm's signal before it lets the run save and end, and it goes on in another job"
# Slurm counts in minutes, and may send the signal up to a minute early.
sed -e 's/^#SBATCH --time=.*/#SBATCH --time=00:02:00/' -e 's/^#SBATCH --signal=.*/#SBATCH --signal=B:USR1@50/' \
    "$folder/script" > "$XDG_CONFIG_HOME/halftone/slurm.sh"
add --set epochs=100000000 --set seed=5
limited=$id
"$halftone" queue start
until_true 300 "a run that trains" is "$id" running
began=$SECONDS
job=$(job_of "$id")
until_true 300 "a run that its time limit has stopped" is "$id" stopped
echo "stopped after $((SECONDS - began)) s of 120"
note_of "$id"
[[ $(note_of "$id") == *"before its run did"* ]] || fail "the note does not say that the job has ended"
scontrol show job "$job" | grep -E 'JobState=|ExitCode='
scontrol show job "$job" | grep 'JobState=TIMEOUT' > /dev/null && fail "Slurm had to end the job itself"
run=$(run_of "$id")
stored "$run" | grep '"state":"stopped"' > /dev/null || fail "the run was cut off before it could save"
steps=$(steps_of "$run")
rm "$XDG_CONFIG_HOME/halftone/slurm.sh"
"$halftone" queue again "$id"
"$halftone" queue start
until_true 300 "more steps" has_trained "$run" $((steps + 100))
[[ $(job_of "$id") != "$job" ]] || fail "it goes on in the same job"
"$halftone" stop "$run"
until_true 300 "a stopped run" is "$limited" stopped

echo "== A run whose data are missing fails with the program's own sentence"
add --set dataset.kind=csv --set dataset.path="$shared/nowhere.csv" --set dataset.target=y
"$halftone" queue start
until_true 300 "a failed run" is "$id" failed
note_of "$id"
[[ $(note_of "$id") == *nowhere.csv* ]] || fail "the note does not name the file"

echo "== A script that Slurm does not take fails with its words"
sed 's/^##SBATCH --partition=gpu/#SBATCH --partition=gpu/' "$folder/script" > "$XDG_CONFIG_HOME/halftone/slurm.sh"
add --set max_steps=3
"$halftone" queue start && fail "its exit code is 0"
is "$id" failed || fail "it has not failed"
note_of "$id"
[[ $(note_of "$id") == *partition* ]] || fail "the note lacks Slurm's words"

echo "== Without Slurm's programs it says so"
"$halftone" queue again "$id"
mkdir "$folder/empty"
PATH=$folder/empty "$halftone" queue start 2> "$folder/refused" && fail "it was not refused"
cat "$folder/refused"
grep -q "no sbatch" "$folder/refused" || fail "it does not name sbatch"
is "$id" waiting || fail "the run does not wait"

"$halftone" queue
echo "all as it should be"
