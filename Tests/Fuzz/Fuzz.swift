internal import Glibc

extension Target {
    /// The part that the environment variable `FUZZ_TARGET` names; `Tests/Fuzz/run` sets it.
    static let chosen: Target = {
        let name = getenv("FUZZ_TARGET").map { String(cString: $0) } ?? ""
        guard let target = Target(rawValue: name) else {
            fail("FUZZ_TARGET is one of \(allCases.map(\.rawValue).joined(separator: ", ")), not \"\(name)\"")
        }
        return target
    }()
}

/// What libFuzzer calls with each input.
@_cdecl("LLVMFuzzerTestOneInput")
public func testOneInput(_ bytes: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
    Target.chosen.run(UnsafeRawBufferPointer(start: bytes, count: count))
    return 0
}

/// Ends the process, on which libFuzzer keeps the input.
func fail(_ reason: String) -> Never { fatalError(reason) }

/// Fails unless the condition holds.
func require(_ condition: Bool, _ reason: @autoclosure () -> String) {
    if !condition { fail(reason()) }
}
