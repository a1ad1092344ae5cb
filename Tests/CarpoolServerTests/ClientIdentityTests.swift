@testable import CarpoolServer
import CarpoolSystem
import Glibc
import Testing

struct ClientIdentityTests {
    @Test("A client without a name is its session; a process that is hidden or gone has none")
    func sessions() {
        #expect(ClientIdentity.session(ofProcess: getpid()) == getsid(0))
        #expect(ClientIdentity.session(ofProcess: 0) == nil, "it would be the daemon's own")
        #expect(ClientIdentity.session(ofProcess: -1) == nil)
        #expect(ClientIdentity.session(ofProcess: .max) == nil)
        let hidden = ClientIdentity(unnamed: PeerCredentials(uid: 1, gid: 1, pid: 0))
        #expect(hidden == ClientIdentity(uid: 1, name: .program("unknown")))
        #expect(hidden.text == "program:unknown")
    }

    @Test("A name does not make a client a session or a program")
    func kinds() {
        let name = ClientIdentity(uid: 1, name: "7")
        #expect(name != ClientIdentity(uid: 1, name: .session(7)))
        #expect(name != ClientIdentity(uid: 1, name: .program("7")))
        #expect(name != ClientIdentity(uid: 2, name: "7"))
        #expect(name.text == "name:7")
    }
}
