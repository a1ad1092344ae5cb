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

    @Test("Two identities of one client are equal, and so are the names derived from them")
    func equality() {
        for name in [ClientIdentity.Name.given("a"), .session(7), .program("nc")] {
            let (one, other) = (ClientIdentity(uid: 1, name: name), ClientIdentity(uid: 1, name: name))
            #expect(one == other)
            #expect(one.hashValue == other.hashValue)
            #expect(one.share == other.share)
            #expect(one.workerShare == other.workerShare)
            let stranger = ClientIdentity(uid: 2, name: name)
            #expect(one.share != stranger.share)
            #expect(one.workerShare != stranger.workerShare)
        }
    }
}
