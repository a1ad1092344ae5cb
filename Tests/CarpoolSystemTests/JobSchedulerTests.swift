import Testing

@testable import CarpoolSystem

struct JobSchedulerTests {
    private let now = MonotonicTime(nanoseconds: 10_000_000_000)

    private static func share(_ client: String, user: UInt32 = 1) -> WorkerShare {
        WorkerShare(user: user, client: client)
    }

    private func add(_ ticket: Int, to share: WorkerShare, _ scheduler: inout JobScheduler, refusable: Bool = true)
        -> Bool
    {
        scheduler.add(ticket, to: share, mayBeRefused: refusable)
    }

    private func startAll(_ scheduler: inout JobScheduler) -> [Int] {
        var started: [Int] = []
        while let ticket = scheduler.next(at: now) { started.append(ticket) }
        return started
    }

    @Test func sharesTakeTurns() {
        var scheduler = JobScheduler(limits: .init(running: 1))
        for ticket in 1...3 { #expect(add(ticket, to: Self.share("many"), &scheduler)) }
        #expect(add(4, to: Self.share("one"), &scheduler))
        var order: [Int] = []
        while let ticket = scheduler.next(at: now) {
            order.append(ticket)
            scheduler.finish(ticket)
        }
        #expect(order == [1, 4, 2, 3])
        #expect(scheduler.waiting == 0 && scheduler.running == 0)
    }

    @Test func oneShareHasTwoJobsAtATime() {
        var scheduler = JobScheduler()
        for ticket in 1...5 { _ = scheduler.add(ticket, to: Self.share("stalled"), mayBeRefused: true) }
        #expect(startAll(&scheduler) == [1, 2])
        _ = scheduler.add(6, to: Self.share("other"), mayBeRefused: true)
        #expect(startAll(&scheduler) == [6])
        scheduler.finish(2)
        #expect(startAll(&scheduler) == [3])
    }

    @Test func oneUserLeavesRoomForOthersAndTheProcess() {
        var scheduler = JobScheduler()
        for ticket in 1...20 { _ = scheduler.add(ticket, to: Self.share("client \(ticket)"), mayBeRefused: true) }
        #expect(startAll(&scheduler).count == scheduler.limits.runningPerUser)
        _ = scheduler.add(21, to: Self.share("another", user: 2), mayBeRefused: true)
        _ = scheduler.add(22, to: .process, mayBeRefused: true)
        #expect(startAll(&scheduler) == [21, 22])
    }

    @Test func whatHasStalledIsReplacedUpToTheNumberOfThreads() {
        var scheduler = JobScheduler()
        for ticket in 1...100 { _ = scheduler.add(ticket, to: Self.share("client \(ticket)"), mayBeRefused: true) }
        var started = startAll(&scheduler).count
        for _ in 0..<10 {
            scheduler.markStalled(before: now)
            started += startAll(&scheduler).count
        }
        #expect(started == scheduler.limits.threadsPerUser)
        #expect(scheduler.stalled == started)
        _ = scheduler.add(101, to: Self.share("another", user: 2), mayBeRefused: true)
        #expect(startAll(&scheduler) == [101])
        scheduler.finish(1)
        #expect(scheduler.stalled == started - 1)
        #expect(startAll(&scheduler).count == 1)
    }

    @Test func queuesAreBoundedForWhatMayBeRefused() {
        var scheduler = JobScheduler(limits: .init(waitingPerShare: 2, waiting: 3))
        let (a, b) = (Self.share("a"), Self.share("b"))
        #expect(add(1, to: a, &scheduler))
        #expect(add(2, to: a, &scheduler))
        #expect(!add(3, to: a, &scheduler))
        #expect(add(4, to: b, &scheduler))
        #expect(!add(5, to: b, &scheduler))
        #expect(add(6, to: a, &scheduler, refusable: false))
        #expect(scheduler.waiting == 4)
    }

    @Test func nothingIsLeftOfThousandsOfShares() {
        var scheduler = JobScheduler()
        for round in 0..<50 {
            for client in 0..<100 {
                _ = scheduler.add(round * 100 + client, to: Self.share("\(client)"), mayBeRefused: true)
            }
            while case let started = startAll(&scheduler), !started.isEmpty { started.forEach { scheduler.finish($0) } }
        }
        #expect(scheduler.waiting == 0 && scheduler.running == 0 && scheduler.knownShares == 0)
    }
}
