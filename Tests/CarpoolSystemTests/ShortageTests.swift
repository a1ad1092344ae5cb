import CarpoolSystem
import Glibc
import Testing

struct ShortageTests {
    @Test(
        "Only errors of missing descriptors and memory are shortages",
        arguments: [
            (EMFILE, true), (ENFILE, true), (ENOMEM, true), (ENOBUFS, true), (EACCES, false), (ENOENT, false),
            (ENOSPC, false), (EAGAIN, false),
        ])
    func codes(code: Int32, isShortage: Bool) {
        #expect(Shortage.isShortage(code) == isShortage)
        #expect(SystemError(code: code, operation: "open").isShortage == isShortage)
    }

    @Test("An error of a call that lacked something is noted, with its number")
    func noted() {
        let before = Shortage.count
        _ = SystemError(code: ENOBUFS, operation: "send")
        #expect(Shortage.count > before)
        #expect(Shortage.since(before) != nil)
    }

    @Test("The explanation of missing descriptors has the limit, and each has a remedy")
    func explanations() {
        #expect(Shortage.explanation(of: EMFILE).contains("RLIMIT_NOFILE is "))
        for code in [EMFILE, ENFILE, EAGAIN, ENOMEM, ENOBUFS] {
            #expect(Shortage.explanation(of: code).hasSuffix("."))
            #expect(Shortage.remedy(for: code).hasPrefix("try again"))
        }
    }
}
