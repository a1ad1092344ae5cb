import CarpoolSystem
import Glibc
import Testing

@testable import CarpoolServer

@Suite("Descriptors that were passed with a call")
struct PassedDescriptorTests {
    @Test(
        "A refusal during a shortage is one for the shortage",
        arguments: [.refused(EBADF), .unusable(.readOnly), .otherSocket(family: AF_UNSPEC)] as [PassedDescriptor])
    func shortage(found: PassedDescriptor) {
        let inspected = PassedDescriptor.inspected {
            Shortage.note(EMFILE)
            return found
        }
        guard case .refused(let code) = inspected, Shortage.isShortage(code) else {
            Issue.record("\(inspected)")
            return
        }
    }

    @Test("What can be used is used, also during a shortage")
    func usable() throws {
        let (reading, writing) = try FileDescriptor.pipe()
        defer { close(writing) }
        let file = WorkerFile(FileDescriptor(owning: reading), closer: nil)
        let inspected = PassedDescriptor.inspected {
            Shortage.note(EMFILE)
            return .stream(file, isSocket: false)
        }
        guard case .stream = inspected else {
            Issue.record("\(inspected)")
            return
        }
    }
}
