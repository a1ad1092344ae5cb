internal import CarpoolSystem
internal import Glibc

/// Runs the transfers of a command line, one after the other or in parallel (`-Z`).
final class CurlTransfers {
    private let context: CurlContext
    private var plan: CurlPlan
    private var running: [CurlTransfer] = []
    /// The next transfers, whose first requests were sent already.
    private var ahead: [CurlTransfer] = []
    private var hasMore = true
    /// The next transfer, which has to wait (`--rate`).
    private var planned: CurlPlannedTransfer?
    private var result: Int32 = 0
    private var nextStart: MonotonicTime?

    /// Reads the files and standard input that the options name.
    init(_ invocation: CurlInvocation, _ context: CurlContext) throws(CurlError) {
        self.context = context
        var operations: [CurlPreparedOperation] = []
        for operation in invocation.operations {
            let prepared = try CurlPreparedOperation(operation, context.environment)
            context.console.warn(prepared.warnings)
            operations.append(prepared)
        }
        plan = CurlPlan(operations)
    }

    /// Runs all transfers; returns curl's exit code.
    func run() -> Int32 {
        // The failure of a write says that a reader is gone.
        signal(SIGPIPE, SIG_IGN)
        while hasMore || !running.isEmpty {
            startTransfers()
            guard !running.isEmpty || hasMore else { break }
            lookAhead()
            context.parallelProgress?.update { running.map(\.currentProgress) }
            wait()
            finishTransfers()
        }
        context.parallelProgress?.finish()
        try? context.console.output.flush()
        return result
    }

    private var maximum: Int { context.global.isParallel ? max(1, context.global.maximumParallel) : 1 }

    private func startTransfers() {
        while hasMore, running.count < maximum {
            guard ahead.isEmpty else {
                start(ahead.removeFirst())
                continue
            }
            do throws(CurlError) {
                if planned == nil {
                    planned = try plan.next()
                    context.console.warn(plan.warnings)
                }
                guard let next = planned else { return hasMore = false }
                if let nextStart, nextStart > MonotonicTime.read() { return }
                planned = nil
                start(CurlTransfer(next, context))
            } catch {
                context.console.warn(plan.warnings)
                context.console.print(error)
                result = error.exitCode
                hasMore = false
            }
        }
    }

    /// Sends the first requests of the next transfers, if these run one after the other.
    private func lookAhead() {
        let global = context.global
        guard !global.isParallel, global.rateMilliseconds == nil, !global.failsEarly, context.lookAhead.isOn,
            ahead.count <= CurlLookAhead.maximum / 2,
            var last = ahead.isEmpty ? running.last?.call : ahead.last?.preparedCall
        else { return }
        while ahead.count < CurlLookAhead.maximum {
            var rest = plan
            guard let next = try? rest.next(), rest.warnings.isEmpty,
                CurlLookAhead.suits(next, headFiles: context.headFiles)
            else { return }
            let transfer = CurlTransfer(next, context)
            guard let call = transfer.prepare(after: last) else { return }
            plan = rest
            ahead.append(transfer)
            last = call
        }
    }

    private func start(_ transfer: CurlTransfer) {
        if let milliseconds = context.global.rateMilliseconds, !context.global.isParallel {
            nextStart = MonotonicTime.read().advanced(milliseconds: milliseconds)
        }
        running.append(transfer)
        context.parallelProgress?.begin()
        transfer.start()
        finishTransfers()
    }

    private func finishTransfers() {
        for transfer in running {
            guard let code = transfer.exitCode else { continue }
            transfer.saveCookies()
            context.parallelProgress?.end(transfer.currentProgress)
            // One after the other, the last one decides.
            if code != 0 || !context.global.isParallel { result = code }
            if code != 0, transfer.isFatal || context.global.failsEarly {
                hasMore = false
                running = []
                return
            }
        }
        running.removeAll { $0.exitCode != nil }
    }

    /// Waits for the descriptors of all transfers, and lets those go on that can.
    private func wait() {
        guard !running.contains(where: \.isReady) else { return step([]) }
        var entries: [pollfd] = []
        context.daemons.add(to: &entries)
        var deadlines = [hasMore && running.count < maximum ? nextStart : nil, context.parallelProgress?.dueAt]
        for transfer in running {
            for fd in transfer.inputs { entries.append(pollfd(fd: fd, events: Int16(POLLIN), revents: 0)) }
            if let fd = transfer.output { entries.append(pollfd(fd: fd, events: Int16(POLLOUT), revents: 0)) }
            deadlines.append(transfer.deadline)
        }
        let deadline = deadlines.compactMap(\.self).min()
        let count = poll(&entries, nfds_t(entries.count), CurlTransfers.milliseconds(until: deadline))
        let ready = count > 0 ? Set(entries.filter { $0.revents != 0 }.map(\.fd)) : []
        context.daemons.receive(ready)
        step(ready)
    }

    private func step(_ ready: Set<Int32>) {
        for transfer in running { transfer.step(ready) }
    }

    private static func milliseconds(until deadline: MonotonicTime?) -> Int32 {
        guard let deadline else { return -1 }
        let now = MonotonicTime.read()
        return Int32(clamping: (deadline.microseconds(since: now) + 999) / 1_000)
    }
}
