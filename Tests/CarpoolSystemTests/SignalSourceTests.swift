import CarpoolSystem
import Glibc
import Testing

struct SignalSourceTests {
    @Test func signalsBecomeEventsOfTheLoop() throws {
        var former = sigset_t()
        pthread_sigmask(SIG_BLOCK, nil, &former)
        let loop = try EventLoop()
        var seen: [Signal] = []
        let source = try SignalSource(loop: loop) { signal in
            seen.append(signal)
            if seen.count == 2 { loop.stop() }
        }
        // To this thread alone: the other tests of this process continue.
        pthread_kill(pthread_self(), SIGHUP)
        pthread_kill(pthread_self(), SIGTERM)
        loop.run()
        source.close()
        pthread_sigmask(SIG_SETMASK, &former, nil)
        #expect(Set(seen) == [.hangUp, .terminate])
    }
}
