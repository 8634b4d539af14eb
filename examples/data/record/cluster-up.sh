#!/usr/bin/env bash
# SPDX-License-Identifier: BSL-1.0
#
# Starts a private Slurm cluster of eight nodes on this one machine: every node is a slurmd in a cgroup with a CPU
# quota. Everything listens on the loopback interface only and lives in one scratch folder.
#
# Needs: Debian 12, root, the cpu cgroup controller, and
#          apt-get install --no-install-recommends slurmctld slurmd slurm-client slurmdbd \
#            slurm-wlm-mysql-plugin munge mariadb-server
#        Stop the system's own services of these packages if apt started them (systemctl stop slurmd ...).
# Usage: SCRATCH=$(mktemp -d) PORT=18000 ./cluster-up.sh
#        Prints the SLURM_CONF to export. Undo with cluster-down.sh (same SCRATCH).
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")"
# shellcheck source-path=SCRIPTDIR source=lib.sh
source ./lib.sh

: "${SCRATCH:?set SCRATCH to a new folder, e.g. SCRATCH=\$(mktemp -d)}"
PORT=${PORT:-18000}             # uses PORT .. PORT+7 and PORT+100 .. PORT+102
QUOTA_FAST=${QUOTA_FAST:-22}    # percent of one core; 6 * 22 + 2 * 8 = 148 leaves room on a machine with two cores
QUOTA_SLOW=${QUOTA_SLOW:-8}
SLOW_NODES=${SLOW_NODES:-n2 n5}
host=$(hostname -s)

mkdir -p "$SCRATCH"/{etc,log,run,spool,state,munge,mysql}
chmod 755 "$SCRATCH" "$SCRATCH"/*   # munged refuses a socket below a folder that others cannot enter
export SLURM_CONF=$SCRATCH/etc/slurm.conf
cgroup_create_parent

# munge: how the Slurm daemons know each other. Own key, own socket, so that a system munged is left alone.
head -c 1024 /dev/urandom > "$SCRATCH/munge/key"
chmod 400 "$SCRATCH/munge/key"
munged --force --key-file="$SCRATCH/munge/key" --socket="$SCRATCH/munge/socket" --seed-file="$SCRATCH/munge/seed" \
  --pid-file="$SCRATCH/run/munged.pid" --log-file="$SCRATCH/log/munged.log"

# mariadb + slurmdbd: the accounting behind sacct, which record.sh compares its own records with.
sql() { mariadb --no-defaults --socket="$SCRATCH/run/mysql.sock" --user=root --execute="$1"; }
mariadb-install-db --no-defaults --user=root --datadir="$SCRATCH/mysql" --auth-root-authentication-method=normal \
  --skip-test-db > "$SCRATCH/log/mysql-install.log" 2>&1
setsid mariadbd --no-defaults --user=root --datadir="$SCRATCH/mysql" --socket="$SCRATCH/run/mysql.sock" \
  --pid-file="$SCRATCH/run/mariadbd.pid" --bind-address=127.0.0.1 --port=$((PORT + 102)) \
  --innodb-buffer-pool-size=64M --innodb-lock-wait-timeout=900 --innodb-flush-log-at-trx-commit=0 \
  > "$SCRATCH/log/mariadb.log" 2>&1 < /dev/null &
wait_for 60 sql "select 1"
sql "create database slurm_acct_db;
     create user 'slurm'@'127.0.0.1' identified by 'local';
     create user 'slurm'@'localhost' identified by 'local';
     grant all on slurm_acct_db.* to 'slurm'@'127.0.0.1';
     grant all on slurm_acct_db.* to 'slurm'@'localhost'"

cat > "$SCRATCH/etc/slurmdbd.conf" << CONF
AuthType=auth/munge
AuthInfo=socket=$SCRATCH/munge/socket
DbdHost=localhost
DbdAddr=127.0.0.1
DbdPort=$((PORT + 101))
CommunicationParameters=NoInAddrAny,NoCtldInAddrAny
SlurmUser=root
StorageType=accounting_storage/mysql
StorageHost=127.0.0.1
StoragePort=$((PORT + 102))
StorageUser=slurm
StoragePass=local
StorageLoc=slurm_acct_db
LogFile=$SCRATCH/log/slurmdbd.log
PidFile=$SCRATCH/run/slurmdbd.pid
CONF
chmod 600 "$SCRATCH/etc/slurmdbd.conf"   # slurmdbd insists

# No step accounting (JobAcctGatherType): its polling would run on the node's own small quota.
cat > "$SCRATCH/etc/slurm.conf" << CONF
ClusterName=straggle
SlurmctldHost=$host(127.0.0.1)
SlurmUser=root
SlurmdUser=root
AuthType=auth/munge
AuthInfo=socket=$SCRATCH/munge/socket
CredType=cred/munge
CommunicationParameters=NoInAddrAny,NoCtldInAddrAny
SlurmctldPort=$((PORT + 100))
SlurmctldPidFile=$SCRATCH/run/slurmctld.pid
SlurmctldLogFile=$SCRATCH/log/slurmctld.log
StateSaveLocation=$SCRATCH/state
SlurmdPidFile=$SCRATCH/run/slurmd.%n.pid
SlurmdLogFile=$SCRATCH/log/slurmd.%n.log
SlurmdSpoolDir=$SCRATCH/spool/%n
SlurmdParameters=config_overrides
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
SwitchType=switch/none
MpiDefault=none
MailProg=/bin/true
ReturnToService=2
SelectType=select/cons_tres
SelectTypeParameters=CR_CPU
SchedulerType=sched/backfill
SchedulerParameters=sched_interval=2,bf_interval=5,batch_sched_delay=1
BatchStartTimeout=30
MessageTimeout=30
SlurmdTimeout=60
KillWait=5
MinJobAge=60
JobRequeue=0
JobAcctGatherType=jobacct_gather/none
AccountingStorageType=accounting_storage/slurmdbd
AccountingStorageHost=127.0.0.1
AccountingStoragePort=$((PORT + 101))
AccountingStoragePass=$SCRATCH/munge/socket
NodeName=n[0-7] NodeHostname=$host NodeAddr=127.0.0.1 Port=[$PORT-$((PORT + 7))] CPUs=1 RealMemory=1000 State=UNKNOWN
PartitionName=main Nodes=ALL Default=YES MaxTime=INFINITE State=UP
CONF

slurmdbd
wait_for 60 sacctmgr -n list cluster
sacctmgr -i add cluster straggle > /dev/null || true   # slurmctld may register it by itself
slurmctld -c
controller_up() { scontrol ping | grep -q UP; }
wait_for 60 controller_up

for i in 0 1 2 3 4 5 6 7; do
  node=n$i
  mkdir -p "$SCRATCH/spool/$node"
  case " $SLOW_NODES " in
    *" $node "*) set_quota "$node" "$QUOTA_SLOW" ;;
    *) set_quota "$node" "$QUOTA_FAST" ;;
  esac
  # The subshell moves itself first, so slurmd and all its tasks are born inside the cgroup.
  (
    echo "$BASHPID" > "$CGROUP/$node/cgroup.procs"
    exec slurmd -N "$node"
  )
done
all_idle() { [ "$(sinfo -h -N -o %T | grep -c '^idle$')" = 8 ]; }
wait_for 120 all_idle
echo "export SLURM_CONF=$SLURM_CONF"
