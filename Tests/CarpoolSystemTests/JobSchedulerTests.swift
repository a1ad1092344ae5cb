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

    @Test func aShareWhoseJobsHaveStalledGoesOn() {
        for share in [Self.share("a"), .process] {
            var scheduler = JobScheduler()
            let first = 1
            for ticket in first..<(first + 4) { #expect(add(ticket, to: share, &scheduler)) }
            #expect(startAll(&scheduler) == [first, first + 1])
            scheduler.markStalled(before: now)
            #expect(startAll(&scheduler) == [first + 2, first + 3], "\(share)")
            scheduler.finish(first)
            scheduler.markStalled(before: now)
            for ticket in (first + 4)..<(first + 7) { #expect(add(ticket, to: share, &scheduler)) }
            #expect(startAll(&scheduler) == [first + 4, first + 5], "those that end take no place twice")
        }
    }

    @Test func computationGoesOnWhateverFilesHold() {
        var scheduler = JobScheduler()
        for user in 1...3 {
            for ticket in 1...40 {
                _ = add(user * 100 + ticket, to: Self.share("\(ticket)", user: UInt32(user)), &scheduler)
            }
        }
        while !startAll(&scheduler).isEmpty { scheduler.markStalled(before: now) }
        #expect(scheduler.running == scheduler.limits.threads)
        for ticket in 1...5 { _ = add(ticket, to: Self.share("\(ticket)").computation, &scheduler) }
        #expect(startAll(&scheduler) == [1, 2, 3], "three of a user")
        for ticket in 6...7 { _ = add(ticket, to: Self.share("a", user: 2).computation, &scheduler) }
        #expect(startAll(&scheduler) == [6], "four in all")
        scheduler.markStalled(before: now)
        #expect(startAll(&scheduler).isEmpty, "what computes does not stall")
        scheduler.finish(6)
        #expect(startAll(&scheduler) == [7])
        _ = add(8, to: .process, &scheduler)
        #expect(startAll(&scheduler) == [8], "the process has threads of its own")
    }

    @Test func oneShareComputesTwoJobsAtATime() {
        var scheduler = JobScheduler()
        for ticket in 1...3 { _ = add(ticket, to: Self.share("a").computation, &scheduler) }
        #expect(startAll(&scheduler) == [1, 2])
        _ = add(4, to: Self.share("a"), &scheduler)
        #expect(startAll(&scheduler) == [4], "its files do not wait for that")
        for ticket in [1, 2, 4] { scheduler.finish(ticket) }
        #expect(startAll(&scheduler) == [3])
        scheduler.finish(3)
        #expect(scheduler.running == 0 && scheduler.waiting == 0 && scheduler.knownShares == 0)
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

    @Test func oneUserWithManyNamesLeavesPlacesToOthers() {
        var scheduler = JobScheduler(limits: .init(waitingPerUser: 2, waiting: 3))
        #expect(add(1, to: WorkerShare(user: 1, client: "a"), &scheduler))
        #expect(add(2, to: WorkerShare(user: 1, client: "b"), &scheduler))
        #expect(!add(3, to: WorkerShare(user: 1, client: "c"), &scheduler))
        #expect(add(4, to: WorkerShare(user: 2, client: "a"), &scheduler))
        for ticket in startAll(&scheduler) { scheduler.finish(ticket) }
        #expect(scheduler.waiting == 0 && scheduler.knownShares == 0)
        #expect(add(5, to: WorkerShare(user: 1, client: "c"), &scheduler))
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
