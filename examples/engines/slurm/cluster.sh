#!/usr/bin/env bash
# Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
# (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)

# A Slurm cluster of eight nodes on one machine, in one folder, on the loopback interface, for trying the controller; needs
# root.
#   cluster.sh up FOLDER FIRST_PORT [NODES]    prints the variable to export
#   cluster.sh down FOLDER                     ends what `up` started, identified by process id
# START_SLURMD: a command to run instead of slurmd, for example to start it in a cgroup.
# Debian: apt-get install --no-install-recommends slurmctld slurmd slurm-client slurmdbd slurm-wlm-mysql-plugin \
#         slurm-wlm-basic-plugins munge mariadb-server
set -euo pipefail
what=${1:?up or down} folder=${2:?a folder}
export SLURM_CONF=$folder/etc/slurm.conf

alive() { [[ -r /proc/$1/stat && $(awk '{print $3}' "/proc/$1/stat" 2>/dev/null) != Z ]]; }
stop() {
    local file pid pids=()
    for file; do
        [[ -s $file ]] || continue
        pid=$(<"$file")
        kill "$pid" 2>/dev/null || true
        pids+=("$pid")
    done
    for pid in "${pids[@]}"; do
        for _ in $(seq 100); do
            alive "$pid" || break
            sleep 0.05
        done
        if alive "$pid"; then kill -9 "$pid" || true; fi
    done
    rm -f "$@"
}
wait_for() { # seconds, command
    local end=$((SECONDS + $1))
    shift
    until "$@" >/dev/null 2>&1; do
        ((SECONDS < end)) || { echo "cluster.sh: gave up waiting for: $*" >&2; return 1; }
        sleep 0.1
    done
}

if [[ $what == down ]]; then
    [[ -d $folder/run && -d $folder/munge ]] || { echo "cluster.sh: $folder is not a folder of \`up\`" >&2; exit 1; }
    if [[ -s $folder/run/slurmctld.pid ]] && alive "$(<"$folder/run/slurmctld.pid")"; then
        timeout 10 scancel --quiet --state=PENDING -u root || true
        timeout 10 scancel --quiet -u root || true
        sleep 1
    fi
    stop "$folder"/run/slurmd.*.pid
    stop "$folder/run/slurmctld.pid"
    stop "$folder/run/slurmdbd.pid"
    stop "$folder/run/mariadbd.pid"
    stop "$folder/run/munged.pid"
    rm -rf "$folder"
    exit
fi

port=${3:?first port} nodes=${4:-8} host=$(hostname -s)
mkdir -p "$folder"/{etc,log,run,spool,state,munge,mysql,out}
chmod 755 "$folder" "$folder"/*
dd if=/dev/urandom of="$folder/munge/key" bs=1024 count=1 status=none
chmod 400 "$folder/munge/key"
munged --force --key-file="$folder/munge/key" --socket="$folder/munge/socket" --pid-file="$folder/run/munged.pid" \
    --log-file="$folder/log/munged.log" --seed-file="$folder/munge/seed"
mariadb-install-db --no-defaults --user=root --datadir="$folder/mysql" --auth-root-authentication-method=normal \
    --skip-test-db >"$folder/log/mysql-install.log" 2>&1
setsid mariadbd --no-defaults --user=root --datadir="$folder/mysql" --socket="$folder/run/mysql.sock" \
    --pid-file="$folder/run/mariadbd.pid" --bind-address=127.0.0.1 --port=$((port + 90)) \
    --innodb-buffer-pool-size=64M --innodb-lock-wait-timeout=900 --innodb-flush-log-at-trx-commit=0 \
    >"$folder/log/mariadb.log" 2>&1 </dev/null &
db=(--no-defaults -S "$folder/run/mysql.sock" -u root)
wait_for 30 mariadb-admin "${db[@]}" ping
mariadb "${db[@]}" -e "create database slurm_acct_db; create user 'slurm'@'127.0.0.1' identified by 'x';
    create user 'slurm'@'localhost' identified by 'x'; grant all on slurm_acct_db.* to 'slurm'@'127.0.0.1';
    grant all on slurm_acct_db.* to 'slurm'@'localhost'"
cat >"$folder/etc/slurmdbd.conf" <<EOF
AuthType=auth/munge
AuthInfo=socket=$folder/munge/socket
DbdHost=localhost
DbdAddr=127.0.0.1
DbdPort=$((port + 81))
CommunicationParameters=NoInAddrAny,NoCtldInAddrAny
SlurmUser=root
StorageType=accounting_storage/mysql
StorageHost=127.0.0.1
StoragePort=$((port + 90))
StorageUser=slurm
StoragePass=x
StorageLoc=slurm_acct_db
LogFile=$folder/log/slurmdbd.log
PidFile=$folder/run/slurmdbd.pid
EOF
chmod 600 "$folder/etc/slurmdbd.conf"
cat >"$folder/etc/slurm.conf" <<EOF
ClusterName=straggle
SlurmctldHost=$host(127.0.0.1)
SlurmUser=root
SlurmdUser=root
AuthType=auth/munge
AuthInfo=socket=$folder/munge/socket,cred_expire=5
CredType=cred/munge
SlurmctldPort=$((port + 80))
SlurmctldPidFile=$folder/run/slurmctld.pid
SlurmdPidFile=$folder/run/slurmd.%n.pid
SlurmdSpoolDir=$folder/spool/%n
StateSaveLocation=$folder/state
SlurmctldLogFile=$folder/log/slurmctld.log
SlurmdLogFile=$folder/log/slurmd.%n.log
SlurmdParameters=config_overrides
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
SwitchType=switch/none
MpiDefault=none
ReturnToService=2
MailProg=/bin/true
SelectType=select/cons_tres
SelectTypeParameters=CR_CPU
SchedulerType=sched/backfill
SchedulerParameters=sched_interval=1,bf_interval=1,batch_sched_delay=0
MessageTimeout=30
SlurmdTimeout=60
KillWait=2
MinJobAge=600
JobRequeue=1
JobAcctGatherType=jobacct_gather/none
AccountingStorageType=accounting_storage/slurmdbd
AccountingStorageHost=127.0.0.1
AccountingStoragePort=$((port + 81))
AccountingStoragePass=$folder/munge/socket
CommunicationParameters=NoInAddrAny,NoCtldInAddrAny
NodeName=n[0-$((nodes - 1))] NodeHostname=$host NodeAddr=127.0.0.1 Port=[$port-$((port + nodes - 1))] CPUs=1 RealMemory=1000 State=UNKNOWN
PartitionName=main Nodes=ALL Default=YES MaxTime=INFINITE State=UP
EOF
slurmdbd
wait_for 30 sacctmgr -n list cluster
sacctmgr -i add cluster straggle >/dev/null 2>&1 || true
slurmctld -c
controller_up() { scontrol ping | grep -q UP; }
wait_for 30 controller_up
for ((i = 0; i < nodes; ++i)); do
    mkdir -p "$folder/spool/n$i"
    "${START_SLURMD:-slurmd}" -N "n$i"
done
all_idle() { [[ $(sinfo -h -N -o %T | grep -c '^idle$') == "$nodes" ]]; }
wait_for 60 all_idle
echo "export SLURM_CONF=$SLURM_CONF"
